# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--per-host while many hosts flood: what an idle one gets, and that all have the same."""

import ipaddress

import pytest
from frames import ECT_1, NOT_ECT, ipv4_frame
from streams import Stream, play

ALSO_REGISTERED = ("pi2-hosts",)
pytestmark = pytest.mark.oldest_kernel
RATE = 20_000_000
FRAME_MS = 1514 * 8000 / RATE
SETTLED_S, SECONDS = 1, 1.5  # 100 hosts that begin at once are 8 frames ahead each: .5 s
OFFERED = 1.3  # of the link


class Link:
    """The cable, for play()."""

    def __init__(self, cable):
        self.cable = cable
        self.send, self.receive = cable.send, cable.receive

    def backlog(self):
        return self.cable.qdisc.tc()["qlen"]


def to(host, ecn, length=1514):
    return ipv4_frame(0, ecn, length, target=str(ipaddress.IPv4Address("10.1.0.0") + host))


def played(cable, streams):
    cable.load("--per-host", "dst", "--rate", f"{RATE}bit", "--limit", 20000)
    began = play(Link(cable), streams, SETTLED_S + SECONDS)
    return [stream.measured(began + SETTLED_S, began + SETTLED_S + SECONDS)
            for stream in streams]


def jain(shares):
    return sum(shares)**2 / len(shares) / sum(share**2 for share in shares)


@pytest.mark.parametrize("hosts, ecn", [(10, NOT_ECT), (100, NOT_ECT), (1000, NOT_ECT),
                                        (100, ECT_1)], ids=str)
def test_l_of_an_idle_host(cable, hosts, ecn):
    """It waits for the frame under way, and for no more."""
    flood = Stream([to(host, ecn) for host in range(hosts)], OFFERED * RATE)
    probe = Stream([to(hosts, ECT_1, 100)], 50 * 800)
    (sent, _, _), (_, mean, p99) = played(cable, [flood, probe])
    print(f"{hosts} hosts: flood {sent / RATE:.1%}, probe {mean:.2f} {p99:.2f} ms, "
          f"a frame takes {FRAME_MS:.2f}")
    assert sent > 0.99 * RATE
    assert mean < 0.65 * FRAME_MS
    assert p99 < 1.3 * FRAME_MS


@pytest.mark.parametrize("count", [2, 20, 100])
def test_all_have_the_same(cable, count):
    """Whatever they send beyond it, up to five times."""
    streams = [Stream([to(host, NOT_ECT, 1000)], RATE / count * (1.2 + host % 5))
               for host in range(count)]
    shares = [bit_per_s for bit_per_s, _, _ in played(cable, streams)]
    print(f"{count} hosts: Jain {jain(shares):.5f}, "
          f"{min(shares) / max(shares):.3f} between the least and the most")
    assert jain(shares) > 0.999
