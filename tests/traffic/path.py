# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A path with one bottleneck, and flows through it.

    sender --- router === bottleneck === receiver
       s0       r0  r1                   c0

The qdisc under test goes to r1, the router's port to the receiver. The acknowledgements
take the RTT in a netem at the receiver, where it does not compete with that qdisc.
"""

import collections
import dataclasses
import json

from netns import Namespace, veth, wait_until

ROUTER = "10.1.0.2"  # as the sender sees it
PING_TARGET = "10.2.0.2"
IPERF_PORT = 5201  # its default
FIRST_TABLE = 1000  # of routes; above those of the kernel (linux/rtnetlink.h)
# Hosts and router share one CPU here. What the router still has to do (ksoftirqd) comes
# before the hosts' programs, as if it had a CPU of its own.
AS_HOST = ("nice", "-n", 19)


@dataclasses.dataclass(frozen=True)
class Flow:
    """Each flow has a sender's address of its own, so that routes can choose its congestion
    control: only that way the handshake and the receiver know of it as well. None: something else
    chooses. Flows to the same receiver need a `port` each."""

    sender: str
    receiver: str
    congestion: str | None = "cubic"
    ecn: bool = False  # asks for ECN; DCTCP always does
    # No mainline TCP sends ECT(1): its ECT(0) is rewritten. DCTCP, which reacts to marks
    # like L4S, then is the scalable flow.
    scalable: bool = False
    # What it sends as Not-ECT is made ECT(1): it hears of no mark.
    deaf: bool = False
    rtt_ms: float | None = None  # of its own, in place of the path's
    queue: int | None = None  # transmit queue of the router's port; None: the kernel's hash chooses
    port: int = IPERF_PORT  # of the receiver

    def route_options(self):
        chosen = f"congctl {self.congestion}" if self.congestion else ""
        return f"{chosen}{' features ecn' if self.ecn else ''}"


def ect1_rules(flows):
    rules = "\n".join(f"ip ecn {'not-ect' if flow.deaf else 'ect0'} ip saddr {flow.sender} "
                      f"ip daddr {flow.receiver} ip ecn set ect1"
                      for flow in flows if flow.scalable or flow.deaf)
    return f"""table ip l4s {{
        chain sent {{
            type filter hook postrouting priority 0; policy accept;
            {rules}
        }}
    }}
    """


def delay_acks(receiver, flows, rtt_ms, slot_us):
    """The acknowledgements of a flow take its RTT, those of all others `rtt_ms`."""
    slots = ("slot", f"{slot_us}us", f"{slot_us}us") if slot_us else ()

    def delay(place, milliseconds):
        receiver.run("tc", "qdisc", "add", "dev", "c0", *place, "netem", "delay",
                     f"{milliseconds}ms", "limit", 100000, *slots)

    own = sorted({flow.rtt_ms for flow in flows if flow.rtt_ms})
    if not own:
        delay(["root"], rtt_ms)
        return
    receiver.run("tc", "qdisc", "add", "dev", "c0", "root", "handle", "1:", "prio",
                 "bands", max(2, len(own) + 1), "priomap", *[0] * 16)
    for band, milliseconds in enumerate([rtt_ms, *own], 1):
        delay(["parent", f"1:{band}"], milliseconds)
    for flow in flows:
        if flow.rtt_ms:
            receiver.run("tc", "filter", "add", "dev", "c0", "parent", "1:", "protocol", "ip",
                         "flower", "dst_ip", flow.sender,
                         "classid", f"1:{own.index(flow.rtt_ms) + 2}")


def place_flows(sender, flows):
    """Each flow to its queue of the router's port: what leaves through queue q + 1 here is received
    as from queue q there, and the kernel forwards it through the queue of the same number
    (net/core/dev.c, skb_tx_hash())."""
    sender.run("tc", "qdisc", "add", "dev", "s0", "clsact")
    for flow in flows:
        if flow.queue is not None:
            sender.run("tc", "filter", "add", "dev", "s0", "egress", "protocol", "ip", "flower",
                       "src_ip", flow.sender, "action", "skbedit", "queue_mapping",
                       flow.queue + 1)


def add_routes(sender, flows):
    """To the receivers. Where flows have the same, the sender's address tells them apart."""
    flows_to = collections.Counter(flow.receiver for flow in flows)
    for table, flow in enumerate(flows, FIRST_TABLE):
        route = f"route add {flow.receiver} via {ROUTER} src {flow.sender} {flow.route_options()}"
        if flows_to[flow.receiver] > 1:
            sender.ip(f"rule add from {flow.sender} lookup {table}")
            sender.ip(f"{route} table {table}")
        else:
            sender.ip(route)


def build_path(flows, rtt_ms, *, offload=False, slot_us=0, tx_queues=1):
    """sender, router and receiver with addresses, routes and the ACK delay. `slot_us`:
    acknowledgements arrive together, so far apart at least, as where a network card merges
    interrupts. `tx_queues`: of the router's port."""
    sender, router, receiver = (Namespace(name) for name in ("sender", "router", "receiver"))
    several = tx_queues > 1
    queues = ("numtxqueues", tx_queues + 1, "numrxqueues", tx_queues + 1) if several else ()
    veth(sender, "s0", router, "r0", offload=offload, words=queues, peer_words=queues)
    queues = ("numtxqueues", tx_queues, "numrxqueues", tx_queues) if several else ()
    veth(router, "r1", receiver, "c0", offload=offload, words=queues, peer_words=queues)
    sender.ip("addr add 10.1.0.1/24 dev s0")
    router.ip(f"addr add {ROUTER}/24 dev r0")
    router.ip("addr add 10.2.0.1/24 dev r1")
    receiver.ip(f"addr add {PING_TARGET}/24 dev c0")
    sender.ip(f"route add default via {ROUTER}")
    receiver.ip("route add default via 10.2.0.1")
    for address in dict.fromkeys(flow.receiver for flow in flows):
        receiver.ip(f"addr add {address}/32 dev c0")
        router.ip(f"route add {address} dev r1")
    for flow in flows:
        sender.ip(f"addr add {flow.sender}/32 dev s0")
        receiver.ip(f"route add {flow.sender} via 10.2.0.1 {flow.route_options()}")
        router.ip(f"route add {flow.sender} dev r0")
    add_routes(sender, flows)
    router.sysctl("net.ipv4.ip_forward", 1)
    delay_acks(receiver, flows, rtt_ms, slot_us)
    for space in (sender, receiver):
        space.sysctl("net.ipv4.tcp_no_metrics_save", 1)
    sender.run("nft", "-f", "-", input=ect1_rules(flows))
    if several:
        place_flows(sender, flows)
    return sender, router, receiver


def listen(receiver, flow):
    """An iperf3 that takes one transfer."""
    receiver.run(*AS_HOST, "iperf3", "-s", "-D", "-1", "-B", flow.receiver, "-p", flow.port)
    socket = f"{flow.receiver}:{flow.port}"
    wait_until(lambda: socket in receiver.run("ss", "-Hltn").stdout.split(), f"{socket} listens")


def transfer(sender, flow, seconds, *options):
    """A transfer by iperf3, the sender as client; the receiver listens."""
    return sender.popen(*AS_HOST, "iperf3", "-c", flow.receiver, "-p", flow.port, "-B", flow.sender,
                        "-J", "-t", seconds, *options)


def report_of(process):
    """What the iperf3 of `transfer()` says at its end."""
    output, _ = process.communicate()
    report = json.loads(output)
    if "error" in report:
        raise SystemExit(f"iperf3: {report['error']}")
    return report
