#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One L4S and one Cubic download through one bottleneck, and how long packets wait.

    sender --- router === 40 Mbit/s === receiver

The qdisc under test shapes the router's port to the receiver. The acknowledgements
take the other half of the RTT in a netem at the receiver, where it does not compete
with the qdisc. The L4S flow is the kernel's DCTCP with ECT(0) rewritten to ECT(1)
at the sender, for no mainline TCP sends ECT(1). The delays are those of pings
through both queues (`ping -Q 1` travels as ECT(1)), less the unloaded RTT: the same
yardstick for every qdisc.

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
from netns import Namespace, run, veth, wait_until  # noqa: E402

BIN = Path(os.environ.get("DUALPI2_BIN", ".output"))
# Each flow has addresses of its own, so that routes can choose its congestion control:
# only that way the handshake and the receiver know of it as well.
FLOWS = {
    "l4s": {"congestion": "dctcp", "sender": "10.1.0.3", "receiver": "10.2.0.3"},
    "cubic": {"congestion": "cubic", "sender": "10.1.0.4", "receiver": "10.2.0.4"},
}
PING_TARGET = "10.2.0.2"
# Hosts and router share one CPU here. What the router still has to do (ksoftirqd) comes
# before the hosts' programs, as if it had a CPU of its own; ping spins between probes.
AS_HOST = ("nice", "-n", 19)
ECT1_RULES = f"""table ip l4s {{
    chain sent {{
        type filter hook postrouting priority 0; policy accept;
        ip ecn ect0 ip daddr {FLOWS["l4s"]["receiver"]} ip ecn set ect1
    }}
}}
"""


def build_path(rtt_ms):
    """sender, router and receiver with addresses, routes and the ACK delay."""
    sender, router, receiver = (Namespace(name) for name in ("sender", "router", "receiver"))
    veth(sender, "s0", router, "r0")
    veth(router, "r1", receiver, "c0")
    sender.ip("addr add 10.1.0.1/24 dev s0")
    router.ip("addr add 10.1.0.2/24 dev r0")
    router.ip("addr add 10.2.0.1/24 dev r1")
    receiver.ip("addr add 10.2.0.2/24 dev c0")
    sender.ip("route add default via 10.1.0.2")
    receiver.ip("route add default via 10.2.0.1")
    for flow in FLOWS.values():
        sender.ip(f"addr add {flow['sender']}/32 dev s0")
        receiver.ip(f"addr add {flow['receiver']}/32 dev c0")
        sender.ip(f"route add {flow['receiver']} via 10.1.0.2 src {flow['sender']} "
                  f"congctl {flow['congestion']}")
        receiver.ip(f"route add {flow['sender']} via 10.2.0.1 congctl {flow['congestion']}")
        router.ip(f"route add {flow['sender']} dev r0")
        router.ip(f"route add {flow['receiver']} dev r1")
    router.sysctl("net.ipv4.ip_forward", 1)
    receiver.run("tc", "qdisc", "add", "dev", "c0", "root", "netem", "delay", f"{rtt_ms}ms",
               "limit", 100000)
    for space in (sender, receiver):
        space.sysctl("net.ipv4.tcp_no_metrics_save", 1)
    sender.run("nft", "-f", "-", input=ECT1_RULES)
    return sender, router, receiver


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
    """Pings from the sender at a steady pace through one of the queues."""

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
    """A transfer by iperf3, the sender as client."""
    address = flow["receiver"]
    receiver.run(*AS_HOST, "iperf3", "-s", "-D", "-1", "-B", address)
    wait_until(lambda: address in receiver.run("ss", "-Hltn").stdout, f"{address} listens")
    return sender.popen(*AS_HOST, "iperf3", "-c", address, "-B", flow["sender"], "-J",
                        "-t", seconds)


def finish_flow(process):
    output, _ = process.communicate()
    report = json.loads(output)
    if "error" in report:
        raise SystemExit(f"bottleneck.py: iperf3: {report['error']}")
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
    sender, router, receiver = build_path(rtt_ms)
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
