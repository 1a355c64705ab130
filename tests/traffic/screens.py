#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tools print on the router of the demo: an L4S download of 24 s, and a Cubic one that
comes later and leaves earlier.

Prints the screens in docs/, section by section, and leaves a recording for dualpi2-plot in
/results. Runs in the lab's guest as root: `make screens`.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bottleneck import FLOWS  # noqa: E402
from netns import run, wait_until  # noqa: E402
from path import build_path, listen, report_of, transfer  # noqa: E402
from terminal import Terminal  # noqa: E402

BIN = Path(os.environ.get("DUALPI2_BIN", ".output"))
RECORDING = Path("/results/r1.jsonl")
SECONDS, CUBIC_SECONDS, CUBIC_AFTER = 24, 12, 6
LINES = 120  # of the recording, 0.2 s each
SUBSCRIBED_SECONDS, SUBSCRIBED_BYTES = 12, 25_000_000


def section(title):
    print(f"## {title}", flush=True)


def show(router, line):
    """A command as it is typed, and what it prints."""
    program, *arguments = line.split()
    found = BIN / program
    done = router.run(found if found.exists() else program, *arguments, check=False)
    print(f"# {line}")
    for answer in (done.stdout + done.stderr).splitlines():
        print(answer.rstrip(), flush=True)


def show_part(router, line, pattern, count):
    """Of a long answer only the first lines with this pattern."""
    program, *arguments = line.split()
    print(f"# {line} | grep -m {count} {pattern}")
    answers = router.run(BIN / program, *arguments).stdout.splitlines()
    print(*[answer for answer in answers if pattern in answer][:count], sep="\n", flush=True)


def wait_for_second(number, what):
    """Of the recording."""
    wait_until(lambda: RECORDING.exists() and
               RECORDING.read_text(encoding="utf-8").count("\n") >= 5 * number, what)


def has_forwarded(router, length):
    """So many bytes from the L queue and the C queue together."""
    [stats] = json.loads(router.run(BIN / "dualpi2-stats", "r1", "--json").stdout)
    return stats["l-queue"]["bytes-out"] + stats["c-queue"]["bytes-out"] >= length


def print_screen(line, terminal):
    print(f"# {line}")
    print(terminal.text.rstrip(), flush=True)


def live(router, line, **size):
    """The command on a terminal."""
    program, *arguments = line.split()
    return Terminal(router.argv(BIN / program, *arguments), **size)


def watch(router, sender):
    """The table beside both downloads; the live view, just after that of Cubic has ended."""
    line = "dualpi2-stats r1 --watch --interval 250ms"
    with live(router, line) as terminal:
        terminal.wait_for_word("q quit")
        cubic = transfer(sender, FLOWS["cubic"], CUBIC_SECONDS)
        wait_for_second(CUBIC_AFTER + CUBIC_SECONDS / 2, "both downloads go on for a while")
        section("Statistics")
        show(router, "dualpi2-stats r1")
        report_of(cubic)
        before = terminal.text
        wait_until(lambda: terminal.text != before, "the next interval")
        section("Live")
        print_screen(line, terminal)
        terminal.press("q")
        terminal.end()


def watch_all(router):
    """Beside the L4S download; r0 has the acknowledgements, and nothing ever queues there."""
    line = "dualpi2-stats --watch"
    router.run(BIN / "dualpi2-load", "r0")
    with live(router, line, lines=18) as terminal:
        terminal.wait_for(lambda text: "no queue here" in text and "the bottleneck" in text,
                          "both are judged")
        section("List")
        print_screen(line, terminal)
    router.run(BIN / "dualpi2-load", "r0", "--unload")


def subscribers(sender, router, receiver):
    """Both downloads once more, each of a subscriber."""
    customers = Path(tempfile.mkdtemp()) / "customers"
    customers.write_text(f"north - 30mbit 10mbit\n"
                         f"c1001 {FLOWS['cubic'].receiver} 25mbit 5mbit north\n"
                         f"c1002 {FLOWS['l4s'].receiver} 25mbit 5mbit north\n", encoding="utf-8")
    router.run(BIN / "dualpi2-load", "r1", "--rate", "40mbit", "--per-host", "dst",
               "--subscribers", customers)
    for flow in FLOWS.values():
        listen(receiver, flow)
    downloads = [transfer(sender, flow, SUBSCRIBED_SECONDS) for flow in FLOWS.values()]
    wait_until(lambda: has_forwarded(router, SUBSCRIBED_BYTES), "both go on for a while")
    section("Subscribers")
    show(router, "dualpi2-stats r1 --subscribers")
    for download in downloads:
        report_of(download)
    router.run(BIN / "dualpi2-load", "r1", "--unload")


def main():
    run("modprobe", "-a", "tcp_dctcp", "sch_netem")
    sender, router, receiver = build_path(FLOWS.values(), rtt_ms=10)
    for flow in FLOWS.values():
        listen(receiver, flow)

    section("Attach")
    show(router, "dualpi2-load --check r1 --rate 40mbit")
    show(router, "dualpi2-load r1 --rate 40mbit")

    recording = router.popen(BIN / "dualpi2-stats", "r1", "--record", RECORDING,
                             "--interval", "200ms", "--count", LINES)
    l4s = transfer(sender, FLOWS["l4s"], SECONDS)
    wait_for_second(CUBIC_AFTER, "the L4S download goes on for a while")
    watch(router, sender)
    watch_all(router)
    report_of(l4s)
    recording.communicate()

    section("Histogram")
    show(router, "dualpi2-stats r1 --histogram")
    section("Metrics")
    show_part(router, "dualpi2-stats --prometheus", "dropped", 4)
    section("Helper")
    show(router, "ip link show gso-r1")
    section("Change")
    for line in ("dualpi2-load r1 --target 10ms --classic-protection 20%",
                 "tc -s qdisc show dev r1",
                 "dualpi2-load r1 --target 10parsecs",
                 "dualpi2-load r1 max_rtt 50ms",
                 "dualpi2-load r1 --unload"):
        show(router, line)
    subscribers(sender, router, receiver)
    for space in (sender, router, receiver):
        space.delete()


if __name__ == "__main__":
    main()
