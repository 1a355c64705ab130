# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq --rate and GSO packets: split, and whole. The rate is exact, flows keep their order, nothing
is lost uncounted."""

import collections
import os
import socket

import frames
import pytest
import superpackets
from conftest import check_law
from frames import ECT_1, NOT_ECT
from gso_wire import payload_of, tcp_counters
from netns import veth, wait_until
from shared_link import CALM, CAUGHT_UP_NS, KIND, Shared, frame_ns, most_bytes_ahead, shared_link
from superpackets import MSS, UDP_SEGMENT
from test_mq import QUEUES, Multiqueue

pytestmark = pytest.mark.oldest_kernel

SEGMENTS = 10  # of a GSO packet
EACH = 5  # GSO packets of a queue
HEADERS = frames.ETHER_LEN + frames.IPV4_LEN + superpackets.UDP_LEN
PORT = 1000  # of the first flow
ALL = {"split": ("--split-gso",), "whole": ("--no-split-gso",)}
IN_BOTH = pytest.mark.parametrize("how", ALL)


class SharedGso(Shared):
    """UDP_SEGMENT, as QUIC senders use it; a flow is a socket. Each segment says which of its flow
    it is."""

    flow_of = {}

    def __init__(self, space, dev, peer):
        super().__init__(space, dev, peer)
        space.ip(f"addr add 10.0.0.1/24 dev {dev}")
        space.ip(f"neigh add 10.0.0.2 lladdr 02:00:00:00:00:99 dev {dev}")
        self.sockets = {}
        self.sent_of = collections.Counter()

    def socket_of(self, flow):
        if flow not in self.sockets:
            sock = self.space.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind(("10.0.0.1", PORT + flow))
            sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, MSS)
            sock.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, frames.ROOM)
            self.sockets[flow] = sock
        return self.sockets[flow]

    def send_gso(self, flow, segments, ecn=NOT_ECT):
        sock = self.socket_of(flow)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ecn)
        sock.sendto(payload_of(segments, self.sent_of[flow]), ("10.0.0.2", 9))
        self.sent_of[flow] += segments
        self.sent += segments

    def probe(self, flow):
        self.send_gso(flow, 1)

    def n_arrived(self):
        return sum(segments_of(packet) for packet in self.arrived)

    def check_order(self):
        """Of each flow, but for what was dropped."""
        seen = collections.defaultdict(list)
        for packet in self.arrived:
            seen[int.from_bytes(packet.data[34:36], "big") - PORT] += numbers_of(packet)
        assert seen.keys() == self.sent_of.keys()
        for flow, numbers in seen.items():
            assert numbers == sorted(set(numbers)), flow

    def close(self):
        for sock in self.sockets.values():
            sock.close()
        super().close()


def numbers_of(packet):
    """The segments of an arrival, by what is in them."""
    payload = packet.data[HEADERS:]
    return [int.from_bytes(payload[at:at + 4], "big") for at in range(0, len(payload), MSS)]


def segments_of(packet):
    return len(numbers_of(packet))


def on_wire(packet):
    """Its bytes: each segment has headers of its own."""
    return len(packet.data) + (segments_of(packet) - 1) * HEADERS


@pytest.fixture
def shared(registered_link, new_space):
    for link in shared_link(new_space, SharedGso):
        yield link
        link.finish()
        link.check_order()


def check_exact(packets, bit_per_s, longest):
    """`packets` begin when the ones before them end."""
    took = packets[-1].time_ns - packets[0].time_ns
    carried = sum(on_wire(packet) for packet in packets[:-1])
    assert took == pytest.approx(frame_ns(bit_per_s, carried), rel=0.005, abs=CAUGHT_UP_NS / 4)
    ahead = most_bytes_ahead([(packet.time_ns, on_wire(packet)) for packet in packets], bit_per_s)
    assert ahead <= 3 * longest


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1], ids=["C", "L"])
@IN_BOTH
def test_rate_and_order(shared, how, ecn):
    shared.start("--rate", "20mbit", *ALL[how])
    before = shared.all_stats()[0]["gso"]
    for number in range(EACH * QUEUES):
        shared.send_gso(shared.flow_of[number % QUEUES], SEGMENTS, ecn)
    packets = shared.drain()
    segments = SEGMENTS if how == "whole" else 1
    assert {segments_of(packet) for packet in packets} == {segments}
    assert {packet.ecn for packet in packets} == {ecn}
    check_exact(packets, 20e6, segments * (MSS + HEADERS))
    total, queues = shared.all_stats()
    half = "l-queue" if ecn == ECT_1 else "c-queue"
    assert all(queue[half]["packets-in"] >= EACH * SEGMENTS for queue in queues)
    assert total["gso"][how] - before[how] == EACH * QUEUES
    assert total["mispredicted"] == total["bypassed-tcx"] == 0


@IN_BOTH
def test_l_beside_c(shared, how):
    """A GSO packet of L that has waited for none of C is still only as much ahead as it is long,
    and C has its share."""
    shared.start("--rate", "20mbit", *ALL[how])
    for number in range(2 * EACH * QUEUES):
        shared.send_gso(shared.flow_of[number % 2], SEGMENTS, NOT_ECT)
        shared.send_gso(shared.flow_of[2 + number % 2], SEGMENTS, ECT_1)
    packets = shared.drain()
    last_l = max(index for index, packet in enumerate(packets) if packet.ecn == ECT_1)
    while_both = packets[:last_l]
    in_c = sum(on_wire(packet) for packet in while_both if packet.ecn != ECT_1)
    assert 0.08 <= in_c / sum(on_wire(packet) for packet in while_both) <= 0.14
    check_exact(packets, 20e6, (SEGMENTS if how == "whole" else 1) * (MSS + HEADERS))


@IN_BOTH
def test_limit_counts_as_on_the_wire(shared, how):
    """Of what does not fit all is counted, and no time on the link is taken."""
    shared.start("--rate", "20mbit", "--memlimit", 200_000, *ALL[how])
    for number in range(2 * EACH * QUEUES):
        shared.send_gso(shared.flow_of[number % QUEUES], SEGMENTS)
    packets = shared.drain()
    dropped = sum(queue["c-queue"]["drop-memlimit"] for queue in shared.all_stats()[1])
    assert dropped and shared.n_arrived() + dropped == shared.sent
    check_exact(packets, 20e6, (SEGMENTS if how == "whole" else 1) * (MSS + HEADERS))


# ---- TCP ---------------------------------------------------------------------------------


CONNECTIONS = 8
TCP_BYTES = 250_000  # of each
TCP_FRAME = 1514


@pytest.fixture
def path(registered_link, new_space):
    """Two hosts; the first one sends through several queues."""
    near, far = new_space("near"), new_space("far")
    veth(near, "t0", far, "u0", offload=True, words=("numtxqueues", QUEUES))
    near.ip("addr add 10.0.7.1/24 dev t0")
    far.ip("addr add 10.0.7.2/24 dev u0")
    device = Multiqueue(near, "t0", "t0")
    yield device, far
    device.load("--unload", "--if-attached")
    device.close()


class Pumped:
    """A connection, of which each end does what it can."""

    def __init__(self, server, near, address):
        self.client = near.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.client.connect(address)
        self.connection, _ = server.accept()
        for end in (self.client, self.connection):
            end.setblocking(False)
        self.data, self.sent, self.received = os.urandom(TCP_BYTES), 0, bytearray()

    def pump(self):
        """Is it done?"""
        try:
            while self.sent < len(self.data):
                self.sent += self.client.send(self.data[self.sent:])
        except BlockingIOError:
            pass
        try:
            while len(self.received) < len(self.data):
                self.received += self.connection.recv(1 << 20)
        except BlockingIOError:
            pass
        return len(self.received) == len(self.data)

    def close(self):
        self.client.close()
        self.connection.close()


@IN_BOTH
def test_tcp_in_several_queues(path, how):
    """From the sender's own stack: nothing is sent again but tail loss probes, nothing overtaken,
    and the link is full but never more than that."""
    device, far = path
    device.load("--mq", "--rate", "20mbit", *CALM, *ALL[how])
    server = far.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.bind(("10.0.7.2", 5001))
    server.listen(CONNECTIONS)

    def seen():
        return [*tcp_counters(device.space, "TcpRetransSegs", "TcpExtTCPLossProbes"),
                *tcp_counters(far, "TcpExtTCPOFOQueue")]
    before = seen()
    connections = [Pumped(server, device.space, ("10.0.7.2", 5001)) for _ in range(CONNECTIONS)]
    wait_until(lambda: not sum(not connection.pump() for connection in connections),
               "all has arrived", 60, step=0.002)
    for connection in connections:
        assert connection.received == connection.data
        connection.close()
    server.close()
    sent_again, probes, overtaken = (now - then for now, then in zip(seen(), before, strict=True))
    assert sent_again <= probes and not overtaken
    wait_until(lambda: device.shown()[0]["qlen"] == 0, "the queues are empty")
    total, queues = device.all_stats()
    for queue in queues:
        assert queue["kind"] == KIND
        check_law(queue, device.shown()[1][queue["parent"]])
    assert total["gso"][how] > CONNECTIONS
    assert sum(1 for queue in queues if queue["c-queue"]["packets-in"] > 50) >= 2
    assert total["c-queue"]["bytes-out"] >= CONNECTIONS * TCP_BYTES
    packets = [(time_ns, on_tcp_wire(len(data)))
               for data, time_ns in frames.received(device.receiver)
               if data[26:30] == socket.inet_aton("10.0.7.1")]
    longest = max(length for _, length in packets)
    assert most_bytes_ahead(packets, 20e6) <= 3 * longest
    took = packets[-1][0] - packets[0][0]
    assert sum(length for _, length in packets) >= 0.95 * 20e6 / 8e9 * took


def on_tcp_wire(length):
    headers = TCP_FRAME - 1448  # with timestamps
    return length + max(0, -(-(length - headers) // 1448) - 1) * headers
