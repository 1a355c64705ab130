# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel's refined law."""

import math
import statistics
from operator import itemgetter

from claim import Claim, Paper, in_words

FAST, SLOW = "codel-both-ways-100", "codel-both-ways-1"
ECN, EIGHT = "codel-both-ways-ecn", "codel-eight"
ONE_STEP, TWO_STEPS = "2012, one Newton step", "2012, two Newton steps"
LAWS = ("mainline", "refined", "2012")


def deviation(way):
    """Of the flows of a direction, in % of their mean."""
    return 100 * statistics.pstdev(way) / statistics.fmean(way)


def figures(measured):
    """Mbit/s of all flows both ways, their deviation, the mean of both, and ms in the C queue."""
    ways = (measured.goodputs_mbit({"cubic", "cubic-ecn"}), measured.goodputs_back_mbit())
    return {"sum": sum(map(sum, ways)),
            "deviation": statistics.fmean(deviation(way) for way in ways if way),
            "delay": measured.delays("c").mean_ms()}


def each(seen, cell, laws, figure):
    """{law: the figure of each run}"""
    return {law: seen.each(cell, law, itemgetter(figure)) for law in laws}


def means(runs):
    return {law: statistics.fmean(figures) for law, figures in runs.items()}


def tell(what, runs, digits=1):
    count = len(next(iter(runs.values())))
    return f"{what}: {in_words(means(runs), digits)} (means of {count} runs)"


def is_positive(difference, one, other):
    """Of a difference between the means of two samples; None if it is within two of its standard
    errors, so that chance may have made it."""
    error = math.hypot(*(statistics.pstdev(sample) / math.sqrt(max(len(sample) - 1, 1))
                         for sample in (one, other)))
    return None if abs(difference) <= 2 * error else difference > 0


def is_above(runs, law, other):
    return is_positive(statistics.fmean(runs[law]) - statistics.fmean(runs[other]),
                       runs[law], runs[other])


def judged(text, holds):
    return f"{text}{': too close to tell' if holds is None else ''}", holds


def newton_helps(seen):
    """Two steps are nearer to the exact root in what the queue does."""
    runs = each(seen, FAST, (ONE_STEP, TWO_STEPS, "2012"), "delay")
    delays = means(runs)
    off = {steps: abs(delays[steps] - delays["2012"]) for steps in (ONE_STEP, TWO_STEPS)}
    return judged(tell("mean delay in ms, 2012 being exact", runs, 2),
                  is_positive(off[ONE_STEP] - off[TWO_STEPS], runs[ONE_STEP], runs[TWO_STEPS]))


def uses_more_than(other, cell, digits):
    def judge(seen):
        runs = each(seen, cell, ("refined", other), "sum")
        return judged(tell("Mbit/s", runs, digits), is_above(runs, "refined", other))
    return judge


def sum_of_both_ways(seen):
    runs = each(seen, FAST, ("refined",), "sum")
    return tell("Mbit/s", runs), means(runs)["refined"] >= 182


def ecn_does_alike(seen):
    runs = {"ECN": seen.each(ECN, "refined", itemgetter("sum")),
            "without": seen.each(FAST, "refined", itemgetter("sum"))}
    sums = means(runs)
    return tell("Mbit/s", runs), abs(sums["ECN"] / sums["without"] - 1) <= 0.02


def least_deviation(seen):
    runs = each(seen, FAST, LAWS, "deviation")
    rival = min({"mainline", "2012"}, key=means(runs).get)
    return judged(tell("standard deviation in % of the mean", runs),
                  is_above(runs, rival, "refined"))


def queue_is_held(seen):
    runs = each(seen, EIGHT, ("refined",), "delay")
    return tell("ms", runs), all(4 <= delay <= 8 for delay in runs["refined"])


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
              "100 Mbit/s, RTT 10 ms, 8 Cubic flows in the C queue: 4 to 8 ms on average, in "
              "each run", queue_is_held),
    ),
    many=(FAST, SLOW, ECN, EIGHT),
    figures=figures,
)
