# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""In the guest: the figures of a router after two downloads, as dualpi2-stats prints them.

Usage: sample.py DIRECTORY. Leaves them there in three forms, of the same moment: the link is idle
by then.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in (".", "traffic")]
from bottleneck import BIN, FLOWS, attach, finish_flow, start_flow  # noqa: E402
from netns import run, wait_until  # noqa: E402
from path import build_path  # noqa: E402

SECONDS = 5
OPTIONS = Path(tempfile.mkdtemp())  # as /etc/dualpi2
FORMS = {"dualpi2.json": ["--json"],
         "dualpi2.om": ["--openmetrics", "--config", OPTIONS],
         "dualpi2.prom": ["--prometheus", "--config", OPTIONS]}


def show(router, *form):
    return router.run(BIN / "dualpi2-stats", "r1", *form).stdout


def main():
    run("modprobe", "-a", "tcp_dctcp", "sch_netem", check=False)
    sender, router, receiver = build_path(FLOWS.values(), rtt_ms=10)
    attach(router, "bpf_dualpi2", "40mbit")
    for flow in [start_flow(sender, receiver, flow, SECONDS) for flow in FLOWS.values()]:
        finish_flow(flow)
    # p' has come to rest, too.
    wait_until(lambda: show(router, "--json") == show(router, "--json"), "the link is idle")
    Path(OPTIONS, "r1.conf").touch()
    for name, form in FORMS.items():
        show(router, *form, "--output", Path(sys.argv[1], name))
    router.run(BIN / "dualpi2-load", "r1", "--unload")
    for space in (sender, router, receiver):
        space.delete()
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
