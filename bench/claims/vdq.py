# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""VDQ-CSAQM."""

import statistics
from operator import itemgetter

from claim import Claim, Paper, in_words
from summary import jain

VDQ, PI2 = "vdq", "bpf_dualpi2"
BOTH = (VDQ, PI2)
ALONE, NOT_ONE = "1x0", "0x1"
MIXES = (ALONE, "1x1", "10x1", "10x10", "50x10", "50x50", "10x50", "1x10", NOT_ONE)
ORACLES = ("vdq-oracle-100", "vdq-oracle-60")
RTTS = "vdq-rtts"
CUBIC, BBR = FAMILIES = "vdq-cubic", "vdq-bbr"
FAR = "vdq-far"  # of the mixes with both; those with many flows are what it is for


def cells_of(family):
    return {mix: f"{family}-{mix}" for mix in MIXES}


def figures(measured):
    """Rates in Mbit/s of each flow: DCTCP or BBR, Cubic, and UDP."""
    return {"first": measured.goodputs_mbit({"l4s", "bbr"}),
            "cubic": measured.goodputs_mbit({"cubic"}),
            "udp": measured.goodputs_mbit({"udp"}),
            "used": 100 * measured.utilisation(),
            "dropped in L": measured.dropped("l")}


def ratio(run):
    """What a flow of the first kind gets, by what one with Cubic gets."""
    return statistics.fmean(run["first"]) / statistics.fmean(run["cubic"])


def fairness(run):
    """Jain's index over all flows."""
    return jain(run["first"] + run["cubic"])


def imbalance(of_rates):
    return max(of_rates, 1 / of_rates)


def both_classes(family):
    return {mix: cell for mix, cell in cells_of(family).items() if mix not in (ALONE, NOT_ONE)}


def oracle(cell, share):
    def judge(seen):
        rates = seen.of(cell, VDQ, itemgetter("udp"))
        headers = 1 + (20 + 8 + 14) / 1448  # the shaper counts what goes over the link
        return (f"Mbit/s: {rates[0] * headers:.1f} and {rates[1] * headers:.1f} (with headers)",
                all(abs(rate * headers / share - 1) <= 0.05 for rate in rates))
    return judge


def ratios_of(seen, family, contender):
    return {mix: seen.of(cell, contender, ratio)
            for mix, cell in both_classes(family).items()}


def fair_mixes(family, most):
    """Of all mixes that have both."""
    def judge(seen):
        ratios = {name: ratios_of(seen, family, name) for name in BOTH}
        far = {name: max(map(imbalance, each.values())) for name, each in ratios.items()}
        told = "; ".join(f"{name} {in_words(each, 2)}" for name, each in ratios.items())
        return (f"a flow by one with Cubic: {told}; worst {in_words(far, 2)}",
                far[VDQ] < most and far[VDQ] < far[PI2])
    return judge


def jain_index(family):
    """Of all flows; the mean of all mixes, and the least one."""
    def judge(seen):
        indices = {name: [seen.of(cell, name, fairness) for cell in both_classes(family).values()]
                   for name in BOTH}
        means = {name: statistics.fmean(each) for name, each in indices.items()}
        told = ", ".join(f"{name} {means[name]:.3f} (least {min(indices[name]):.3f})"
                         for name in BOTH)
        return f"Jain's index, mean of the mixes: {told}", means[VDQ] > means[PI2]
    return judge


def less_of_the_link(family):
    def judge(seen):
        uses = {name: {mix: seen.of(cell, name, itemgetter("used"))
                       for mix, cell in cells_of(family).items()}
                for name in BOTH}
        told = "; ".join(f"{name} {in_words(each)}" for name, each in uses.items())
        return (f"% of the link: {told}",
                all(uses[VDQ][mix] < uses[PI2][mix] for mix in MIXES) and
                min(uses[VDQ], key=uses[VDQ].get) == ALONE)
    return judge


def two_rtts(seen):
    rates = {name: seen.of(RTTS, name, itemgetter("first", "cubic")) for name in BOTH}
    spread = {name: max(sum(each, [])) / min(sum(each, [])) for name, each in rates.items()}
    told = "; ".join(
        f"{name} L4S {l4s[0]:.1f} and {l4s[1]:.1f}, Cubic {cubic[0]:.1f} and {cubic[1]:.1f}"
        for name, (l4s, cubic) in rates.items())
    return (f"Mbit/s, with 5 and with 40 ms: {told}; most by least {in_words(spread)}",
            spread[VDQ] < spread[PI2])


def no_l_drops(seen):
    dropped = {cell: seen.of(cell, VDQ, itemgetter("dropped in L"))
               for cell in cells_of(CUBIC).values()}
    return f"{sum(dropped.values())} drops in {len(dropped)} runs", not any(dropped.values())


def both(seen, cell, figure, digits):
    """Of VDQ-CSAQM and of PI2; of a class alone there is no ratio."""
    texts = []
    for name in BOTH:
        try:
            texts.append(f"{seen.of(cell, name, figure):.{digits}f}")
        except (KeyError, statistics.StatisticsError):
            texts.append("–")
    return " / ".join(texts)


def table(seen):
    """Both, mix by mix."""
    yield f"{VDQ} / PI2, mix by mix. The ratio is that of the claims, by a flow with Cubic.\n"
    yield "| | mix | ratio | Jain's index | % of the link |"
    yield "|---|---|---:|---:|---:|"
    for title, family in (("DCTCP, 5 ms", CUBIC), ("DCTCP, 50 ms", FAR), ("BBR, 5 ms", BBR)):
        for mix, cell in (both_classes if family == FAR else cells_of)(family).items():
            yield (f"| {title} | {mix} | {both(seen, cell, ratio, 2)} | "
                   f"{both(seen, cell, fairness, 3)} | "
                   f"{both(seen, cell, itemgetter('used'), 1)} |")


SCALED = "100 Mbit/s, RTT 5 ms"
SAWTOOTH = ("Cubic is below its share for seconds after each drop, and DCTCP takes what that "
            "leaves")
TOO_MANY = ("50 flows with two packets each in 5 ms are more than the link, whatever is marked")
FAR_SCALED = "100 Mbit/s, RTT 50 ms: as many packets in a round trip as with 1 Gbit/s and 5 ms"
PAPER = Paper(
    "VDQ-CSAQM",
    "Nádas, Gombos, Fejes, Laki, \"A Congestion Control Independent L4S Scheduler\", ANRW 2020 "
    "(1 to 10 Gbit/s, BBR v2). A mix of 10x1 is 10 flows of the one and 1 with Cubic",
    {**{cell: BOTH for family in FAMILIES for cell in cells_of(family).values()},
     **{cell: BOTH for cell in both_classes(FAR).values()},
     **{cell: (VDQ,) for cell in ORACLES}, RTTS: BOTH},
    (
        Claim("vdq-oracle-100", "values: 80 + 50 Mbit/s into 100 become 50 and 50",
              "the same; within 5 %", oracle(ORACLES[0], 50)),
        Claim("vdq-oracle-60", "80 + 50 into 60 become 30 and 30", "the same; within 5 %",
              oracle(ORACLES[1], 30)),
        Claim("vdq-cubic", "DCTCP and Cubic are fair in all mixes, which PI2 is not",
              f"{SCALED}; worst below 2, and better than PI2", fair_mixes(CUBIC, 2),
              f"below 2 with fewer than 50 flows of a kind. {TOO_MANY}."),
        Claim("vdq-cubic-jain", "the same", f"{SCALED}; Jain's index over all flows, better than "
              "PI2", jain_index(CUBIC)),
        Claim("vdq-far", "DCTCP and Cubic are fair in all mixes",
              f"{FAR_SCALED}; worst below 2, and better than PI2", fair_mixes(FAR, 2),
              f"{SAWTOOTH}. PI2 is closer here."),
        Claim("vdq-bbr", "BBR and Cubic: at worst 7 : 3; with PI2 Cubic is suppressed",
              f"{SCALED}; worst below 2.33, and better than PI2", fair_mixes(BBR, 7 / 3)),
        Claim("vdq-bbr-jain", "the same", f"{SCALED}; Jain's index over all flows, better than "
              "PI2", jain_index(BBR)),
        Claim("vdq-rtts", "fair with RTTs of 5 and 40 ms; with PI2 DCTCP of 5 ms is ahead",
              "100 Mbit/s, a DCTCP and a Cubic flow of each RTT", two_rtts),
        Claim("vdq-used", "less of the link than PI2, least with one DCTCP flow", SCALED,
              less_of_the_link(CUBIC),
              "least with one Cubic flow, as the virtual queue is short for it. "
              f"{TOO_MANY}."),
        Claim("vdq-l", "L4S packets are only marked", "no drop of an L4S packet", no_l_drops),
    ),
    rates=(f"{CUBIC}-1x1",),
    figures=figures,
    table=table,
)
