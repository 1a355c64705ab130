# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What sends through the bottleneck: the kinds of flows that a cell can name."""

import json
from operator import itemgetter
from pathlib import Path

from contenders import BIN
from flood import Flood
from netns import wait_until
from path import AS_HOST, IPERF_PORT, ROUTER, Flow, listen, report_of, transfer

WEB, RPC = (Path(__file__).with_name(name) for name in ("web.py", "rpc.py"))
FIRST_HOST = 101  # of each network
# Microseconds between iperf3's looks at how much it should have sent: as evenly as it can.
PACING_US = 100


class Tcp:
    """As much as its congestion control allows."""

    CONGESTION = {
        "l4s": {"congestion": "dctcp", "scalable": True},
        "cubic": {"congestion": "cubic"},
        "cubic-ecn": {"congestion": "cubic", "ecn": True},
        "cubic-deaf": {"congestion": "cubic", "deaf": True},
        "reno": {"congestion": "reno"},
        "bbr": {"congestion": "bbr"},
        "nv": {"congestion": "nv"},
    }

    def __init__(self, host, described, tcp):
        """`tcp`: the kind of those that name none themselves."""
        self.kind = described["kind"]
        self.described = described
        self.tcp = self.kind if self.kind in self.CONGESTION else tcp
        self.addresses = self.flow(host)

    def flow(self, host):
        to = self.described.get("host")
        there = {"receiver": f"10.2.0.{host}"} if to is None else {
            "receiver": f"10.2.1.{to}", "port": IPERF_PORT + host}
        return Flow(f"10.1.0.{host}", queue=self.described.get("queue"), **there,
                    **self.CONGESTION[self.tcp])

    def prepare(self, _sender, receiver):
        listen(receiver, self.addresses)

    def start(self, sender, _receiver, seconds, _seed):
        self.process = transfer(sender, self.addresses, seconds)

    def look(self, sender):
        """While it still sends, at the end of what is measured."""

    def told(self):
        """Which flow it is."""
        host = {"host": self.described["host"]} if "host" in self.described else {}
        return {"kind": self.kind, "sender": self.addresses.sender} | host

    def finish(self):
        """What is known only here."""
        return {"retransmits": report_of(self.process)["end"]["sum_sent"]["retransmits"]}


class Prague(Tcp):
    """TCP Prague, by tcp-prague. On private networks it does not look for Classic ECN queues, so
    its addresses are those for benchmarks (RFC 2544); and it remembers networks, so each flow has
    its own."""

    TOOL = BIN / "tcp-prague"
    RECEIVERS = "198.19.0.0/16"

    def flow(self, host):
        return Flow(f"198.18.{host}.1", f"198.19.{host}.1", congestion=None,
                    rtt_ms=self.described.get("rtt_ms"), queue=self.described.get("queue"))

    def prepare(self, sender, receiver):
        blind = ["--no-classic-detection"] if self.described.get("blind") else []
        sender.run(self.TOOL, "on", "--netns", sender.name, "--to", self.RECEIVERS, *blind)
        try:
            receiver.sysctl("net.ipv4.tcp_ecn", 3)
        except OSError:  # before 7.0 only a listener of Prague's answers with AccECN
            receiver.run(self.TOOL, "on", "--netns", receiver.name)
        super().prepare(sender, receiver)

    def look(self, sender):
        """What the sender itself thinks of the queue."""
        shown = json.loads(sender.run(self.TOOL, "status", "--json").stdout)
        network = self.addresses.receiver.removesuffix(".1") + ".0/24"
        largest = max((one for one in shown["sockets"]
                       if one["peer"].startswith(f"{self.addresses.receiver}:")),
                      key=itemgetter("delivered"))
        self.seen = {"mode": largest["mode"],
                     "alarms": sum(one["times"] for one in shown["classic-destinations"]
                                   if one["prefix"] == network)}

    def finish(self):
        return super().finish() | self.seen


class Back(Tcp):
    """The other way: from the receiver to the sender, which tells what it got each second."""

    def __init__(self, host, described, tcp):
        super().__init__(host, described, tcp)
        if self.addresses.scalable:
            raise SystemExit("cell.py: ECT(1) is for flows from the sender")

    def start(self, sender, _receiver, seconds, _seed):
        self.process = transfer(sender, self.addresses, seconds, "-R")

    def finish(self):
        seconds = [each["sum"] for each in report_of(self.process)["intervals"]]
        return {"back": [[each["start"], each["end"], each["bytes"]] for each in seconds]}


TOS = {"not-ect": 0, "ect1": 1}


class Udp(Tcp):
    """At a fixed rate, whatever happens to it; with `burst` so many packets at a time."""

    def start(self, sender, _receiver, seconds, _seed):
        burst = f"/{self.described['burst']}" if "burst" in self.described else ""
        self.process = transfer(sender, self.addresses, seconds, "-u",
                                "-b", f"{self.described['rate_mbit']}M{burst}",
                                "-l", self.described.get("payload", 1448),
                                "--tos", TOS[self.described["ecn"]],
                                "--pacing-timer", PACING_US)

    def finish(self):
        report_of(self.process)
        return {}


class Game(Udp):
    """128 bytes of Ethernet 50 times a second."""

    EACH = {"rate_mbit": 0.0344, "payload": 86}

    def __init__(self, host, described, tcp):
        ecn = "ect1" if described["kind"] == "game-l4s" else "not-ect"
        super().__init__(host, described | self.EACH | {"ecn": ecn}, tcp)


class Crowd(Tcp):
    """UDP packets of many flows, each from a port of its own, at a fixed rate together: as many
    calls, or as handshakes that nobody completes."""

    FIRST_PORT = 1024

    def prepare(self, sender, _receiver):
        """Nobody listens."""
        self.flood = Flood(sender, "s0")

    def start(self, sender, _receiver, _seconds, _seed):
        [router] = json.loads(sender.run("ip", "-j", "neigh", "show", ROUTER).stdout)
        source = self.addresses.sender
        self.flood.start(self.described["frame"], self.described["rate_mbit"] * 1e6,
                         f"tos {TOS[self.described['ecn']]:02x}",
                         f"dst {self.addresses.receiver}", f"dst_mac {router['lladdr']}",
                         f"src_min {source}", f"src_max {source}",
                         f"udp_src_min {self.FIRST_PORT}",
                         f"udp_src_max {self.FIRST_PORT + self.described['flows']}",
                         "flag UDPSRC_RND")

    def finish(self):
        self.flood.stop()
        return {}


def serve(program, space, address):
    space.popen(*AS_HOST, "python3", program, "serve", address)
    wait_until(lambda: f"{address}:" in space.run("ss", "-Hltn").stdout, f"{address} listens")


class Web(Tcp):
    """Short downloads, one after the other and side by side (web.py)."""

    def prepare(self, sender, _receiver):
        serve(WEB, sender, self.addresses.sender)

    def start(self, _sender, receiver, seconds, seed):
        self.process = receiver.popen(*AS_HOST, "python3", WEB, "fetch", self.addresses.sender,
                                      self.addresses.receiver, self.described["per_second"],
                                      seconds, seed)

    def finish(self):
        output, _ = self.process.communicate()
        return {"downloads": json.loads(output)}


class Rpc(Tcp):
    """Requests of one size, each as soon as the one before it is answered (rpc.py)."""

    def prepare(self, _sender, receiver):
        serve(RPC, receiver, self.addresses.receiver)

    def start(self, sender, _receiver, seconds, _seed):
        self.process = sender.popen(*AS_HOST, "python3", RPC, "ask", self.addresses.receiver,
                                    self.addresses.sender, self.described["size"], seconds)

    def finish(self):
        output, _ = self.process.communicate()
        return {"size": self.described["size"], "requests": json.loads(output)}


class Ping(Tcp):
    """As somebody who looks how long packets wait."""

    def prepare(self, _sender, _receiver):
        """Every host answers."""

    def start(self, sender, _receiver, seconds, _seed):
        self.process = sender.popen("ping", "-n", "-q", "-i", "0.02", "-w", seconds,
                                    "-I", self.addresses.sender, self.addresses.receiver)

    def finish(self):
        self.process.communicate()
        return {}


KINDS = dict.fromkeys((*Tcp.CONGESTION, "tcp"), Tcp) | {
    "prague": Prague, "udp": Udp, "game": Game, "game-l4s": Game,
    "crowd": Crowd, "web": Web, "rpc": Rpc, "ping": Ping}


def each_flow(groups):
    """What is described of each; `queues`: of the first, the second, ..., and again."""
    for group in groups:
        queues = group.get("queues", [None])
        for number in range(group.get("count", 1)):
            yield group | {"queue": queues[number % len(queues)]}


def make_senders(groups, tcp):
    """The senders of a cell, each with an address of its own; its receiver has one, too, or that of
    a `host`, which others may have as well."""
    described = each_flow(groups)
    return [(Back if group.get("back") else KINDS[group["kind"]])(host, group, tcp)
            for host, group in enumerate(described, FIRST_HOST)]
