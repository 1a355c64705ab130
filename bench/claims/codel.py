# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel's refined law."""

import statistics

from claim import Claim, Paper, in_words

FAST, SLOW = "codel-both-ways-100", "codel-both-ways-1"
ECN, EIGHT = "codel-both-ways-ecn", "codel-eight"
ONE_STEP, TWO_STEPS = "2012, one Newton step", "2012, two Newton steps"
LAWS = ("mainline", "refined", "2012")
# What chance does in a run of some seconds: share of a sum of rates, ms of a mean delay, % of a
# deviation.
RATE_NOISE, DELAY_NOISE, DEVIATION_NOISE = 0.01, 0.1, 5


def goodputs(measured):
    """Of all flows, both ways."""
    return measured.goodputs_mbit({"cubic", "cubic-ecn"}) + measured.goodputs_back_mbit()


def total(measured):
    return sum(goodputs(measured))


def deviation(measured):
    """Of the flows of a direction, as a share of their mean: the mean of both directions."""
    ways = (measured.goodputs_mbit({"cubic", "cubic-ecn"}), measured.goodputs_back_mbit())
    return statistics.fmean(statistics.pstdev(way) / statistics.fmean(way) for way in ways)


def delay(measured):
    return measured.delays("c").mean_ms()


def newton_helps(seen):
    """Two steps are nearer to the exact root in what the queue does."""
    off = {steps: abs(seen.of(FAST, steps, delay) - seen.of(FAST, "2012", delay))
           for steps in (ONE_STEP, TWO_STEPS)}
    delays = {name: seen.of(FAST, name, delay) for name in (ONE_STEP, TWO_STEPS, "2012")}
    return (f"mean delay in ms: {in_words(delays, 2)} (exact)",
            off[ONE_STEP] - off[TWO_STEPS] > DELAY_NOISE)


def uses_more_than(other, cell, digits):
    def judge(seen):
        sums = {law: seen.of(cell, law, total) for law in ("refined", other)}
        return (f"Mbit/s: {in_words(sums, digits)}",
                sums["refined"] > (1 + RATE_NOISE) * sums[other])
    return judge


def sum_of_both_ways(seen):
    both = seen.of(FAST, "refined", total)
    return f"{both:.1f} Mbit/s", both >= 182


def ecn_does_alike(seen):
    sums = {"ECN": seen.of(ECN, "refined", total), "without": seen.of(FAST, "refined", total)}
    return f"Mbit/s: {in_words(sums)}", abs(sums["ECN"] / sums["without"] - 1) <= 0.02


def least_deviation(seen):
    """None if chance decides."""
    shares = {law: 100 * seen.of(FAST, law, deviation) for law in LAWS}
    least, second, _ = sorted(shares, key=shares.get)
    told = f"standard deviation in % of the mean: {in_words(shares)}"
    if shares[second] - shares[least] < DEVIATION_NOISE:
        return f"{told}: too close to tell", None
    return told, least == "refined"


def queue_is_held(seen):
    mean = seen.of(EIGHT, "refined", delay)
    return f"{mean:.1f} ms", 4 <= mean <= 8


BOTH_WAYS = "100 Mbit/s, RTT 5 ms, 8 Cubic flows each way; `--no-l4s`"
PAPER = Paper(
    "CoDel's refined law",
    "Dave Täht, \"codel: Refine re-entering drop state to react sooner\", cerowrt-devel, 26 August "
    "2012",
    {FAST: (*LAWS, ONE_STEP, TWO_STEPS), SLOW: ("refined", "mainline"), ECN: ("refined",),
     EIGHT: ("refined",)},
    (
        Claim("codel-newton", "two Newton steps help",
              f"{BOTH_WAYS}; law 2012: the delay is nearer to that with the exact root",
              newton_helps),
        Claim("codel-utilisation", "count - 2, and the law applied again in ok(), use more of the "
              "link", f"{BOTH_WAYS}; beside mainline", uses_more_than("mainline", FAST, 1)),
        Claim("codel-utilisation-slow", "the same", "1 Mbit/s",
              uses_more_than("mainline", SLOW, 2),
              "a frame alone takes longer than the target there, so the law that remembers more "
              "drops more."),
        Claim("codel-count", "count++ inside the loop is much better",
              f"{BOTH_WAYS}; beside 2012, which has it outside", uses_more_than("2012", FAST, 1)),
        Claim("codel-sum", "both ways together get 182 of 2 x 100 Mbit/s", BOTH_WAYS,
              sum_of_both_ways),
        Claim("codel-ecn", "flows with ECN and without do alike (172 and 172 Mbit/s)",
              f"{BOTH_WAYS}; within 2 %", ecn_does_alike),
        Claim("codel-deviation", "least deviation over 8 streams",
              f"{BOTH_WAYS}; of the three laws", least_deviation),
        Claim("codel-target", "the queue is held at the target of 5 ms (RFC 8289)",
              "100 Mbit/s, RTT 10 ms, 8 Cubic flows in the C queue: 4 to 8 ms on average",
              queue_is_held),
    ),
)
