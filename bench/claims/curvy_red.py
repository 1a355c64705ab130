# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Curvy RED and the DualQ of 2015."""

import statistics

from claim import Claim, Paper, in_words

CELL = "dualq-2015"
# Where RFC 9332, B.1 says that Curvy RED was tried: 4 to 200 Mbit/s, 5 to 100 ms.
CORNERS = ("pair-4-5ms", "pair-4-100ms", "pair-40-5ms", "pair-40-100ms", "pair-200-5ms",
           "pair-200-100ms")
CURVY, PI2 = "curvy-red", "bpf_dualpi2"
RTT_MS = 7
DUALQ = "dualq-2015"
OTHERS = ("htb+red", "htb+pie", "htb+fq_codel")


def goodput(kind):
    return lambda measured: statistics.fmean(measured.goodputs_mbit({kind}))


def ratio(measured):
    return measured.ratio()


def uneven(shared):
    """How far the ratio of two flows is from 1, whichever has more."""
    return max(shared, 1 / shared)


def used(measured):
    return 100 * measured.utilisation()


def delay_p99(queue):
    return lambda measured: measured.delays(queue).quantile_ms(0.99)


def l_marked(measured):
    return measured.share(measured.count("marked", "l"), "l")


def c_dropped(measured):
    return measured.share(measured.dropped("c"), "c")


def each_gets_its_share(seen):
    l4s, cubic = (seen.of(CELL, DUALQ, goodput(kind)) for kind in ("l4s", "cubic"))
    return (f"L4S {l4s:.1f}, Cubic {cubic:.1f} Mbit/s each",
            all(abs(one / 6.6 - 1) <= 0.15 for one in (l4s, cubic)))


def link_is_used(seen):
    share = seen.of(CELL, DUALQ, used)
    return f"{share:.1f} %", share >= 99


def square_law(seen):
    marked, dropped = (seen.of(CELL, DUALQ, share) for share in (l_marked, c_dropped))
    expected = (marked / 2) ** 2
    return (f"p_L {100 * marked:.1f} %, p_C {100 * dropped:.2f} %, (p_L / 2)² "
            f"{100 * expected:.2f} %", 1 / 1.5 <= dropped / expected <= 1.5)


def interaction(queue, most_ms):
    def judge(seen):
        delay = RTT_MS + seen.of(CELL, DUALQ, delay_p99(queue))
        return f"99 % within {delay:.1f} ms", delay <= most_ms
    return judge


def below_others(seen):
    delays = {name: seen.of(CELL, name, delay_p99("l")) for name in (DUALQ, *OTHERS)}
    return (f"P99 in ms: {in_words(delays)}",
            all(delays[DUALQ] < delays[name] for name in OTHERS))


def good_everywhere(seen):
    """As good as PI2."""
    lost = max(seen.of(cell, PI2, used) - seen.of(cell, CURVY, used) for cell in CORNERS)
    longer = max(0, *(seen.of(cell, CURVY, delay_p99("l")) - seen.of(cell, PI2, delay_p99("l"))
                      for cell in CORNERS))
    ratios = {name: [seen.of(cell, name, ratio) for cell in CORNERS] for name in (CURVY, PI2)}
    told = "; ".join(f"{name} " + ", ".join(f"{one:.2f}" for one in each)
                     for name, each in ratios.items())
    less_even = max(uneven(curvy) / uneven(pi2)
                    for curvy, pi2 in zip(ratios[CURVY], ratios[PI2], strict=True))
    return (f"at most {lost:.1f} % less of the link and {longer:.2f} ms more L4S delay (P99) than "
            f"PI2; L4S : Cubic {told}, at most {less_even:.2f} times as uneven",
            lost <= 5 and longer <= 0.5 and less_even <= 1.5)


SCALED = "40 Mbit/s, RTT 7 ms, 4 DCTCP with ECT(1), 2 Cubic; `--dualq-2015`"
PAPER = Paper(
    "Curvy RED and the DualQ of 2015",
    "De Schepper, Tsang, Bondarenko, Briscoe, \"Ultra-Low Queuing Delay for All Applications\", "
    "IETF DISPATCH, November 2015; RFC 9332, Appendix B",
    {CELL: None, **{cell: (CURVY, PI2) for cell in CORNERS}},
    (
        Claim("dualq-2015-rates", "six downloads get 6.6 Mbit/s each", SCALED,
              each_gets_its_share,
              "an L4S packet's round trip is shorter by the Classic queue, and DCTCP does not make "
              "up for it."),
        Claim("dualq-2015-used", "100 % of the link is used", "the same", link_is_used),
        Claim("dualq-2015-square", "20 % of marks in L go with 1 % of drops in C: p_C = (p_L / 2)²",
              "the same; the square within a factor of 1.5", square_law),
        Claim("dualq-2015-l4s-latency", "interaction takes 7 to 10 ms beside 6 downloads (DCTCP)",
              "RTT and the queue's delay", interaction("l", 10)),
        Claim("dualq-2015-cubic-latency", "and 7 to 100 ms for Cubic",
              "RTT and the queue's delay", interaction("c", 100)),
        Claim("dualq-2015-others", "L4S packets wait less than with RED, PIE or FQ-CoDel",
              "these below HTB, RED by the rule of tc-red(8)", below_others),
        Claim("curvy-red-range",
              "good results from 4 to 200 Mbit/s and 5 to 100 ms with the defaults (B.1)",
              "one DCTCP and one Cubic at 4, 40 and 200 Mbit/s, 5 and 100 ms; good: 5 % of the "
              "link and 0.5 ms within PI2, and at most 1.5 times as uneven", good_everywhere,
              "most of all at 4 Mbit/s and 5 ms, where DCTCP's least window of two packets is most "
              "of the link. PI2 drops 2 % of its packets there, Curvy RED none."),
    ),
    curves=(CELL,),
)
