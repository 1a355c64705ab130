#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One L4S and one Cubic download through one bottleneck, and how long packets wait.

path.py has the path and the flows. The delays are those of pings through both queues
(`ping -Q 1` travels as ECT(1)), less the unloaded RTT: the same yardstick for every qdisc.

Prints one JSON object; runs in the lab's guest as root.
"""

import argparse
import json
import os
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from netns import run  # noqa: E402
from path import (  # noqa: E402
    AS_HOST,
    PING_TARGET,
    Flow,
    build_path,
    listen,
    report_of,
    transfer,
)

BIN = Path(os.environ.get("DUALPI2_BIN", ".output"))
FLOWS = {
    "l4s": Flow("10.1.0.3", "10.2.0.3", congestion="dctcp", scalable=True),
    "cubic": Flow("10.1.0.4", "10.2.0.4"),
}


def attach(router, qdisc, rate):
    """Put the qdisc under test behind a limit of `rate` on the router's port."""
    if qdisc == "bpf_dualpi2":
        router.run(BIN / "dualpi2-load", "r1", "--rate", rate)
    elif qdisc == "fifo":
        router.run("tc", "qdisc", "add", "dev", "r1", "root", "handle", "1:", "htb",
                   "default", 1)
        router.run("tc", "class", "add", "dev", "r1", "parent", "1:", "classid", "1:1", "htb",
                   "rate", rate)
        router.run("tc", "qdisc", "add", "dev", "r1", "parent", "1:1", "pfifo", "limit", 1000)
    else:
        raise SystemExit(f"bottleneck.py: no qdisc {qdisc}")


class Pinger:
    """Pings from the sender at a steady pace through one of the queues. As a host's program:
    ping spins between probes."""

    def __init__(self, sender, tos, interval_s, count):
        self.process = sender.popen(*AS_HOST, "ping", "-n", "-D", "-Q", tos, "-i", interval_s,
                                    "-c", count, "-s", 56, PING_TARGET)

    def samples(self):
        """[(time of the reply in s, RTT in ms)]"""
        output, _ = self.process.communicate()
        return [(float(when), float(rtt)) for when, rtt in
                re.findall(r"^\[([\d.]+)\].* time=([\d.]+) ms", output, re.M)]


def quantile(values, part):
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * part // 1000) - 1)]


def delay_summary(samples, unloaded_ms):
    delays = [rtt - unloaded_ms for _, rtt in samples]
    return {
        "probes": len(delays),
        "mean_ms": round(statistics.fmean(delays), 3),
        "p99_ms": round(quantile(delays, 990), 3),
        "max_ms": round(max(delays), 3),
    }


def start_flow(sender, receiver, flow, seconds):
    listen(receiver, flow)
    return transfer(sender, flow, seconds)


def finish_flow(process):
    report = report_of(process)
    return {
        "goodput_mbit": round(report["end"]["sum_received"]["bits_per_second"] / 1e6, 3),
        "retransmits": report["end"]["sum_sent"].get("retransmits"),
        "intervals": [[round(part["sum"]["start"], 2),
                       round(part["sum"]["bits_per_second"] / 1e6, 3)]
                      for part in report["intervals"]],
    }


def counters(router, qdisc):
    """Marks and drops at the bottleneck."""
    if qdisc == "bpf_dualpi2":
        return json.loads(router.run(BIN / "dualpi2-stats", "r1", "--json").stdout)[0]
    return json.loads(router.run("tc", "-j", "-s", "qdisc", "show", "dev", "r1").stdout)[-1]


def experiment(qdisc, rate, rtt_ms, seconds):
    run("modprobe", "-a", "tcp_dctcp", "sch_netem", "sch_htb", check=False)
    sender, router, receiver = build_path(FLOWS.values(), rtt_ms)
    attach(router, qdisc, rate)

    idle = Pinger(sender, 0, 0.01, 50).samples()
    unloaded_ms = statistics.median(rtt for _, rtt in idle)

    flows = {name: start_flow(sender, receiver, flow, seconds)
             for name, flow in FLOWS.items()}
    probes = int(seconds * 50)
    pings = {"l": Pinger(sender, 1, 0.02, probes), "c": Pinger(sender, 0, 0.02, probes)}
    samples = {queue: pinger.samples() for queue, pinger in pings.items()}
    results = {name: finish_flow(process) for name, process in flows.items()}
    begin = min(when for queue in samples.values() for when, _ in queue)
    total = sum(flow["goodput_mbit"] for flow in results.values())
    report = {
        "kernel": os.uname().release,
        "qdisc": qdisc,
        "rate": rate,
        "rtt_ms": rtt_ms,
        "seconds": seconds,
        "unloaded_ms": unloaded_ms,
        "goodput_mbit": round(total, 3),
        "ratio": round(results["l4s"]["goodput_mbit"] / results["cubic"]["goodput_mbit"], 3),
        "flows": results,
        "delay": {queue: delay_summary(part, unloaded_ms) for queue, part in samples.items()},
        "series": {queue: [[round(when - begin, 3), round(rtt - unloaded_ms, 3)]
                           for when, rtt in part] for queue, part in samples.items()},
        "counters": counters(router, qdisc),
    }
    if qdisc == "bpf_dualpi2":
        router.run(BIN / "dualpi2-load", "r1", "--unload")
    for space in (sender, router, receiver):
        space.delete()
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--qdisc", default="bpf_dualpi2", choices=["bpf_dualpi2", "fifo"])
    parser.add_argument("--rate", default="40mbit")
    parser.add_argument("--rtt", type=float, default=10, metavar="MS")
    parser.add_argument("--seconds", type=int, default=12)
    args = parser.parse_args()
    print(json.dumps(experiment(args.qdisc, args.rate, args.rtt, args.seconds)))


if __name__ == "__main__":
    main()
