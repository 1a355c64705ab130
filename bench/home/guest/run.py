#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One run of a home line with one contender, in the lab's guest, as root.

Usage: run.py SPECIFICATION, as bench/home/run writes it (JSON). Leaves what was seen in
/results/run.json.
"""

import sys
import time
from itertools import count
from pathlib import Path

SRC = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(SRC / part) for part in ("bench/guest", "tests", "tests/traffic",
                                             "tests/compare")]
from cell import MARGIN_S, SEED_STEP_S, CpuClock, leave_result  # noqa: E402
from flows import BESIDE, Bulk, Ping, Window  # noqa: E402
from line import Line  # noqa: E402
from netns import run  # noqa: E402
from shapers import shape  # noqa: E402

FIRST_HOST = 1


def start_all(flows, seconds, seed):
    """Another seed, another run: TCP is chaotic."""
    for flow in flows:
        flow.start(seconds, seed)
        time.sleep(SEED_STEP_S * seed / len(flows))


def measure(specification):
    run("modprobe", "-a", "tcp_dctcp", "sch_netem")
    line = Line(specification["rtt_ms"], one_host=specification["one_host"])
    line.limit(specification["up_mbit"], specification["down_mbit"], specification["fifo_ms"])
    shape(line.router, specification["contender"], specification["options"],
          specification["shaped_up_kbit"], specification["shaped_down_kbit"])
    number = count(FIRST_HOST)
    ping = Ping(line, next(number))
    bulk = [Bulk(line, next(number), direction, kind)
            for kind in Bulk.CONGESTION for direction, flows in specification[kind].items()
            for _ in range(flows)]
    beside = {name: BESIDE[name](line, next(number), specification)
              for name in specification["beside"]}
    warmup_s, seconds = specification["warmup_s"], specification["seconds"]
    start_all([*bulk, *beside.values()], warmup_s + seconds + MARGIN_S, specification["seed"])
    time.sleep(warmup_s)
    clock = CpuClock()
    ping.start(seconds)
    begin_ns = time.time_ns()
    time.sleep(seconds)
    window = Window(begin_ns, time.time_ns())
    idle_share = clock.idle_share()
    return {"cpu_idle": round(idle_share, 4),
            "ping": ping.finish(),
            "bulk": [flow.finish(window) for flow in bulk],
            "beside": {name: flow.finish(window) for name, flow in beside.items()}}


if __name__ == "__main__":
    leave_result(measure)
