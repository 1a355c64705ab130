# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A home line: a router behind a modem that is slower than its cables.

    home --- router --- line --- server
      h0    lan  wan   m0  m1      s0

The line is the modem and the provider's side of it: each direction has its true rate, behind a
FIFO. Upstream that FIFO is m1's, behind what the router sends; downstream it is m0's, in front of
what the router receives. What the server sends takes the RTT before it gets there.
"""

from netns import Namespace, veth

WAN = "wan"
HOME, SERVER = "10.1.0", "10.2.0"  # the networks
ETHERNET_FCS = 4  # bytes: DOCSIS counts a frame with them
FRAME_BYTES = 1518
LEAST_FIFO = 50  # frames
DELAY_FRAMES = 100000  # under way to the line; never that many


def fifo_frames(mbit, fifo_ms):
    """What takes so long, in the longest frames."""
    return max(LEAST_FIFO, round(mbit * 1000 * fifo_ms / 8 / FRAME_BYTES))


def narrow(line, dev, mbit, fifo_ms):
    """netem's rate: each frame takes its time on the wire, however late a timer is."""
    line.run("tc", "qdisc", "add", "dev", dev, "root", "netem", "rate", f"{mbit}mbit",
             ETHERNET_FCS, "limit", fifo_frames(mbit, fifo_ms))


class Line:
    """The four namespaces. `one_host`: the home has one host, with one address, else one for each
    flow."""

    def __init__(self, rtt_ms, *, one_host=False):
        self.one_host = one_host
        self.home, self.router, self.line, self.server = (
            Namespace(name) for name in ("home", "router", "line", "server"))
        veth(self.home, "h0", self.router, "lan")
        veth(self.router, WAN, self.line, "m0")
        veth(self.line, "m1", self.server, "s0")
        for space, dev, address in ((self.router, "lan", f"{HOME}.254/24"),
                                    (self.router, WAN, "10.3.0.1/24"),
                                    (self.line, "m0", "10.3.0.2/24"),
                                    (self.line, "m1", f"{SERVER}.254/24")):
            space.ip(f"addr add {address} dev {dev}")
        self.router.ip("route add default via 10.3.0.2")
        self.line.ip(f"route add {HOME}.0/24 via 10.3.0.1")
        for space in (self.router, self.line):
            space.sysctl("net.ipv4.ip_forward", 1)
        for space in (self.home, self.server):
            space.sysctl("net.ipv4.tcp_no_metrics_save", 1)
        self.server.run("tc", "qdisc", "add", "dev", "s0", "root", "netem",
                        "delay", f"{rtt_ms}ms", "limit", DELAY_FRAMES)

    def limit(self, up_mbit, down_mbit, fifo_ms):
        narrow(self.line, "m1", up_mbit, fifo_ms)
        narrow(self.line, "m0", down_mbit, fifo_ms)

    def add_hosts(self, number, options=""):
        """One in the home and one beyond the line, which reach each other. `options`: of their
        routes."""
        home, server = f"{HOME}.{1 if self.one_host else number}", f"{SERVER}.{number}"
        for space, dev, own, network, other in ((self.home, "h0", home, HOME, server),
                                                (self.server, "s0", server, SERVER, home)):
            space.ip(f"addr replace {own}/24 dev {dev}")
            space.ip(f"route replace {other} via {network}.254 src {own} {options}")
        return home, server
