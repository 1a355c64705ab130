# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TCP-NV with a base RTT."""

import statistics
from operator import itemgetter

from claim import Claim, Paper, in_words
from summary import quantile

ONE, MERGED, TWO, RPC = "nv-one", "nv-merged", "nv-two", "nv-rpc"
CUBIC, NV, TOLD = "Cubic", "NV", "NV with base RTT"
ALL = (CUBIC, NV, TOLD)
NEARER = "NV, told 500 us"
RTT_US = 400
SMALL = 10000  # bytes of a request


def figures(measured):
    """Rates in Mbit/s; the RTT of a ping, to which nothing adds on the way back; small requests."""
    seen = {"goodputs": measured.goodputs_mbit({"tcp"}),
            "ping us": RTT_US + 1000 * measured.delays("c", "ping").mean_ms()}
    if "rpc" in measured.kinds():
        took, seen["small rate"] = measured.requests(SMALL)
        seen["small P99 ms"] = 1000 * quantile(took, 0.99)
    return seen


def goodput(run):
    return statistics.fmean(run["goodputs"])


def is_in_order(values, order):
    """From the largest to the least."""
    ordered = [values[name] for name in order]
    return all(one > other for one, other in zip(ordered, ordered[1:], strict=False))


def one_flow(cell):
    def judge(seen):
        seeds = {name: seen.each(cell, name, goodput) for name in ALL}
        rates = {name: statistics.fmean(each) for name, each in seeds.items()}
        several = len(seeds[NV])
        spread = f" (NV {min(seeds[NV]):.1f} to {max(seeds[NV]):.1f} in {several} runs)"
        return (f"Mbit/s: {in_words(rates)}{spread if several > 1 else ''}",
                rates[TOLD] >= 0.95 * rates[CUBIC] and rates[NV] <= 0.8 * rates[CUBIC])
    return judge


def two_flows(seen):
    """The means of all seeds, and what the worst one of those that were told was."""
    seeds = {name: seen.each(TWO, name, itemgetter("goodputs")) for name in (*ALL, NEARER)}
    means = {name: [statistics.fmean(flow) for flow in zip(*each, strict=True)]
             for name, each in seeds.items()}
    told = "; ".join(f"{name} {' and '.join(f'{rate:.1f}' for rate in each)}"
                     for name, each in means.items())
    worst = max(seeds[TOLD], key=apart)
    return (f"Mbit/s: {told} (means of {len(seeds[TOLD])} runs; with base RTT furthest apart "
            f"{worst[0]:.1f} and {worst[1]:.1f})", apart(means[TOLD]) <= 1.05)


def apart(rates):
    return max(rates) / min(rates)


def in_the_order(cell, figure, what, order):
    def judge(seen):
        values = {name: seen.of(cell, name, itemgetter(figure)) for name in ALL}
        return f"{what}: {in_words(values, 1)}", is_in_order(values, order)
    return judge


SCALED = "1 Gbit/s, RTT 400 us, told 800 us, FIFO of 1000 packets"
PAPER = Paper(
    "TCP-NV with a base RTT from BPF",
    "Lawrence Brakmo, \"tcp: configure TCP-NV with base RTT from BPF\", Linux 4.15 (10 Gbit/s, RTT "
    "below 40 us, told 80 us)",
    {ONE: ALL, MERGED: ALL, TWO: (*ALL, NEARER), RPC: ALL},
    (
        Claim("nv-one", "one flow: Cubic 9.3, NV 5.5, NV with base RTT 9.2 Gbit/s",
              f"{SCALED}; with the base RTT 0.95 of Cubic at least, without 0.8 at most",
              one_flow(ONE), "nothing delays a packet here but the queue, so NV knows the RTT."),
        Claim("nv-merged", "the same", "the same, and ACKs every 400 us, as a network card that "
              "merges interrupts within 40 us delivers them", one_flow(MERGED)),
        Claim("nv-two", "two flows: 4.6, 4.5 and 4.6 Gbit/s each",
              f"{SCALED}; 20 s; with the base RTT within 5 % of each other over five runs",
              two_flows,
              "each flow of NV is held by its own rate, so nothing makes shares equal."),
        Claim("nv-two-ping", "ping beside two flows: 3300, 97 and 146 us", "the same order",
              in_the_order(TWO, "ping us", "us", (CUBIC, TOLD, NV))),
        Claim("nv-rpc-rate", "three hosts, each with a flow, four with requests of 1 MB and one "
              "with 10 kB: those of 10 kB get 27, 111 and 222 Mbit/s", "the same order",
              in_the_order(RPC, "small rate", "Mbit/s each", (TOLD, NV, CUBIC))),
        Claim("nv-rpc-p99", "99 % of them take at most 26, 1 and 0.5 ms", "the same order",
              in_the_order(RPC, "small P99 ms", "ms", (CUBIC, NV, TOLD))),
        Claim("nv-rpc-ping", "ping beside all that: 3200, 720 and 330 us", "the same order",
              in_the_order(RPC, "ping us", "us", (CUBIC, NV, TOLD))),
    ),
    many=(MERGED, TWO),
    figures=figures,
)
