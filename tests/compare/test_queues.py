# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Queue choice, order, credit, limits: no random number has a part in these, so both qdiscs
have to agree to the packet and byte."""

import frames
import pytest
from frames import CE, ECN_NAMES, ECT_0, ECT_1, NOT_ECT
from netns import run
from scripts import CALM, CLOCK, chosen, packet_script, play, without

Q, AD = frames.ETH_P_8021Q, frames.ETH_P_8021AD
TAGS = {"": (), " in 802.1Q": ((Q, 5),), " in 802.1ad + 802.1Q": ((AD, 7), (Q, 5))}


def queue_choice(pair, report, what, cases, **options):
    """Send each case to both; both have to choose the same queue."""
    native, ours = pair.both(
        lambda side: {name: chosen(side, frame) for name, frame in cases.items()},
        **CALM, **options)
    queues = list(native.values())
    report.equal(f"queue: {what}", native, ours,
                 shown=f"{queues.count('L')} L, {queues.count('C')} C")


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("version, maker", [("IPv4", frames.ipv4_frame),
                                            ("IPv6", frames.ipv6_frame)])
def test_ecn_field(pair, report, version, maker, tags):
    queue_choice(pair, report, f"4 codepoints, {version}{tags}",
                 {ECN_NAMES[ecn]: maker(1, ecn, 200, TAGS[tags])
                  for ecn in (NOT_ECT, ECT_1, ECT_0, CE)})


def test_no_ip(pair, report):
    queue_choice(pair, report, "neither IPv4 nor IPv6, tagged or not",
                 {"plain": frames.other_frame(1), "tagged": frames.other_frame(1, 200, ((Q, 5),))})


def test_cut_short(pair, report):
    whole = {frames.ETH_P_IP: frames.ipv4(ECT_1, b""), frames.ETH_P_IPV6: frames.ipv6(ECT_1, b"")}
    queue_choice(pair, report, "IP headers cut short, every length",
                 {(protocol, length): frames.frame(protocol, header[:length])
                  for protocol, header in whole.items() for length in range(len(header))})


def test_third_tag(pair, report):
    tags = TAGS[" in 802.1ad + 802.1Q"] + TAGS[" in 802.1Q"]
    frame = frames.ipv4_frame(1, ECT_1, 200, tags)
    native, ours = pair.both(lambda side: chosen(side, frame), **CALM)
    report.differs("queue: ECT(1) behind three tags", native, ours, "three tags",
                   (native, ours) == ("L", "C"))


def test_wrong_version(pair, report):
    frame = frames.frame(frames.ETH_P_IP, frames.ipv6(CE, frames.numbered(1, 100, 54)))
    native, ours = pair.both(lambda side: chosen(side, frame), **CALM)
    report.differs("queue: IPv6 header, EtherType IPv4", native, ours, "version",
                   (native, ours) == ("L", "C"))


def test_any_ect(pair, report):
    queue_choice(pair, report, "4 codepoints, any_ect",
                 {ECN_NAMES[ecn]: frames.ipv4_frame(1, ecn, 200)
                  for ecn in (NOT_ECT, ECT_1, ECT_0, CE)}, any_ect=True)


@pytest.mark.parametrize("minor", (0, 1, 2, 3))
def test_class(pair, report, minor):
    """skb->priority names a class of the qdisc; the ECN field goes first."""
    def script(side):
        return [chosen(side, frame, minor) for frame in
                (frames.other_frame(1), *(frames.ipv4_frame(1, ecn, 200)
                                          for ecn in (NOT_ECT, ECT_1, ECT_0, CE)))]

    native, ours = pair.both(script, **CALM)
    report.equal(f"queue: class {minor}, non-IP and 4 codepoints", native, ours,
                 shown=f"{native.count('L')} L, {native.count('C')} C")


@pytest.mark.parametrize("what, action", [
    ("skbedit priority, class 1", "skbedit priority {handle:x}:1"),
    ("pedit, to ECT(1)", "pedit ex munge ip tos set 1 retain 3"),
])
def test_filters_of_clsact(pair, report, what, action):
    def script(side):
        handle = side.qdiscs.get(side.dev)[0] >> 16
        run("tc", "qdisc", "add", "dev", side.dev, "clsact")
        try:
            run("tc", "filter", "add", "dev", side.dev, "egress", "protocol", "ip", "matchall",
                "action", *action.format(handle=handle).split())
            return chosen(side, frames.ipv4_frame(1, NOT_ECT, 200))
        finally:
            run("tc", "qdisc", "del", "dev", side.dev, "clsact")

    native, ours = pair.both(script, **CALM)
    report.differs(f"queue: clsact egress, {what}", native, ours, "filters",
                   (native, ours) == ("L", "C"))


# ---- order and credit ----------------------------------------------------------------


@pytest.mark.parametrize("percent", (0, 1, 10, 25, 50, 75, 90, 99, 100))
def test_order_and_credit(pair, report, percent):
    script = packet_script(20, 16, 12)
    native, ours = pair.both(lambda side: play(side, script), classic_protection=percent, **CALM)
    count = sum(len(burst) for burst, _ in script)
    assert len(native[0]) == count and native[0] != sorted(native[0])
    orders, stats = zip(native, ours, strict=True)
    credit = [at["credit"] for at in stats[0]]
    seen = [without(side, "maxq", *CLOCK) for side in stats]
    report.equal(f"classic_protection {percent}: order of {count} packets", *orders,
                 shown="in order")
    report.equal(f"... credit and {len(seen[0][0]) - 1} statistics, {len(seen[0])} times", *seen,
                 shown="..".join(str(value) for value in sorted({min(credit), max(credit)})))


def test_maxq(pair, report):
    def script(side):
        side.send([frames.ipv4_frame(1, ECT_1)] * 10)
        return side.stats()["maxq"]

    native, ours = pair.both(script, **CALM)
    report.differs("maxq of a burst of 10 packets", native, ours, "maxq",
                   (native, ours) == (9, 10))


def test_credit_of_a_new_share(pair, report):
    """A change of classic_protection resets the credit, also under a backlog."""
    script = packet_script(6, 16, 8)

    def change_under_backlog(side):
        for burst, leave in script:
            side.send(burst)
            side.let(leave)
        before = side.stats()["credit"]
        side.change(classic_protection=30)
        return before, side.stats()["credit"]

    native, ours = pair.both(change_under_backlog, **CALM)
    assert native[0] != native[1]
    report.equal("credit before and after a new classic_protection", native, ours,
                 shown=f"{native[0]}, {native[1]}")


# ---- limits --------------------------------------------------------------------------


def arrivals(stats):
    return stats["pkts-in-l"] + stats["pkts-in-c"]


@pytest.mark.parametrize("what, limits", [("limit 30 packets", {"limit": 30}),
                                          ("memlimit 50 kB", {"memlimit": 50_000})])
def test_limits(pair, report, what, limits):
    script = packet_script(16, 24, 16)
    native, ours = pair.both(lambda side: play(side, script), **limits, **CALM)
    count = sum(len(burst) for burst, _ in script)
    dropped = [count - len(side[0]) for side in (native, ours)]
    assert 20 < dropped[0] < count - 20
    report.equal(f"{what}: which of {count} packets get in", native[0], ours[0],
                 shown=count - dropped[0])
    apart = ("maxq", "pkts-in-l", "pkts-in-c", *CLOCK)
    seen = [without(side[1], *apart) for side in (native, ours)]
    report.equal(f"{what}: {len(seen[0][0])} statistics, {len(seen[0])} times", *seen,
                 shown=f"{seen[0][-1]['drops']} drops")
    if "limit" in limits:
        report.differs("pkts-in-l + pkts-in-c, some dropped on arrival",
                       arrivals(native[1][-1]), arrivals(ours[1][-1]), "pkts-in",
                       arrivals(native[1][-1]) == count - dropped[0] and
                       arrivals(ours[1][-1]) == count)
