# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures of a cell as a table in Markdown: a row for each variant, with the mean over its
seeds and, where there are several, the lowest and the highest."""

import statistics

import verdict
from summary import (
    CLASSIC,
    GAMES,
    SCALABLE,
    UNRESPONSIVE,
    Measured,
    is_cpu_bound,
    jain,
    quantile,
    tell,
)

L4S = set(SCALABLE)
MOST_LISTED = 4  # flows of which each has its own figure
NONE = "–"
DIGITS = 6  # of a figure that is kept
OVERVIEW = ("each host Mbit/s", "least of a host Mbit/s", "most of a host Mbit/s",
            "Jain's index of the hosts", "L4S downloads Mbit/s", "each of them",
            "all others Mbit/s", "each of the others", "unresponsive Mbit/s", "L4S game P99 ms",
            "game P99 ms", "games lost %", "Classic ECN found", "small requests P99 ms",
            "ping waits ms", "L P99 ms", "L dropped", "convictions", "link used %")


def spurious(run):
    """Segments that the receiver reports it had already (RFC 2883), and timeouts that
    F-RTO found needless."""
    return sum(run["tcp"][name] for name in ("TcpExtTCPDSACKRecv", "TcpExtTCPDSACKOfoRecv",
                                             "TcpExtTCPSpuriousRTOs"))


def total(goodputs):
    """None where there is no such flow."""
    return sum(goodputs) if goodputs else None


def each(goodputs):
    """None where there is only one, or too many to be listed."""
    return goodputs if 2 <= len(goodputs) <= MOST_LISTED else None


def largest(measured, where):
    """Without GSO all frames are alike."""
    return measured.largest(where) if measured.run["specification"]["offload"] else None


def is_seen(measured):
    """What a queue does is seen on the router."""
    return not measured.run["specification"]["at_sender"]


def waits(measured, queue):
    """None if nothing waited, or nobody saw it."""
    delays = measured.delays(queue)
    return delays if delays.count and is_seen(measured) else None


def marked(measured, queue):
    """Percent."""
    share = measured.share(measured.count("marked", queue), queue)
    return 100 * share if share is not None and is_seen(measured) else None


def dropped(measured, queue):
    return measured.dropped(queue) if is_seen(measured) else None


def mean_ms(delays):
    return delays and delays.mean_ms()


def p99_ms(delays):
    return delays and delays.quantile_ms(0.99)


def ping_ms(measured):
    """None where nobody pings."""
    return measured.delays("c", "ping").mean_ms() if "ping" in measured.kinds() else None


def hosts_mbit(measured):
    """By their numbers."""
    taken = measured.hosts_mbit()
    return [taken[host] for host in sorted(taken)]


def of_many_hosts(measured, figure):
    """None where each has its own, or there are none."""
    taken = hosts_mbit(measured)
    return figure(taken) if len(taken) > MOST_LISTED else None


def game_p99_ms(measured, queue, kind):
    """None where nobody plays."""
    return p99_ms(measured.delays(queue, kind)) if kind in measured.kinds() else None


def games_lost(measured):
    """Percent."""
    lost = measured.lost(GAMES)
    return lost and 100 * lost


def requests(measured):
    """Of the smallest size: seconds that each took, and Mbit/s of a flow; None where there are
    none."""
    sizes = [flow["size"] for flow in measured.run["flows"] if "size" in flow]
    return measured.requests(min(sizes)) if sizes else None


def request_mbit(measured):
    seen = requests(measured)
    return seen and seen[1]


def request_p99_ms(measured):
    seen = requests(measured)
    return 1000 * quantile(seen[0], 0.99) if seen and seen[0] else None


def alarms(run):
    """How often flows of Prague took the queue for one with Classic ECN; None where there are
    none."""
    times = [flow["alarms"] for flow in run["flows"] if "alarms" in flow]
    return sum(times) if times else None


# Title, digits, figure: a number, a list of them, or None where it does not apply. A column
# that applies to no row is left out.
COLUMNS = (
    ("each host Mbit/s", 2, lambda m: each(hosts_mbit(m))),
    ("least of a host Mbit/s", 2, lambda m: of_many_hosts(m, min)),
    ("most of a host Mbit/s", 2, lambda m: of_many_hosts(m, max)),
    ("Jain's index of the hosts", 4, lambda m: of_many_hosts(m, jain)),
    ("L4S downloads Mbit/s", 1, lambda m: total(m.goodputs_mbit(L4S))),
    ("each of them", 1, lambda m: each(m.goodputs_mbit(L4S))),
    ("all others Mbit/s", 1, lambda m: total(m.goodputs_mbit(m.kinds() - L4S))),
    ("each of the others", 1, lambda m: each(m.goodputs_mbit(CLASSIC))),
    ("unresponsive Mbit/s", 1, lambda m: total(m.goodputs_mbit(UNRESPONSIVE))),
    ("L4S game P99 ms", 2, lambda m: game_p99_ms(m, "l", "game-l4s")),
    ("game P99 ms", 2, lambda m: game_p99_ms(m, "c", "game")),
    ("games lost %", 1, games_lost),
    ("Classic ECN found", 0, lambda m: alarms(m.run)),
    ("small requests Mbit/s each", 1, request_mbit),
    ("small requests P99 ms", 1, request_p99_ms),
    ("ping waits ms", 2, ping_ms),
    ("the other way Mbit/s", 1, lambda m: total(m.goodputs_back_mbit())),
    ("L mean ms", 2, lambda m: mean_ms(waits(m, "l"))),
    ("L P99 ms", 2, lambda m: p99_ms(waits(m, "l"))),
    ("L marked %", 2, lambda m: marked(m, "l")),
    ("L dropped", 0, lambda m: dropped(m, "l")),
    ("C mean ms", 2, lambda m: mean_ms(waits(m, "c"))),
    ("C P99 ms", 2, lambda m: p99_ms(waits(m, "c"))),
    ("largest frame in", 0, lambda m: largest(m, "before")),
    ("largest frame out", 0, lambda m: largest(m, "after")),
    ("convictions", 0, lambda m: m.run.get("convictions")),
    ("retransmitted", 0, lambda m: m.run["tcp"]["TcpRetransSegs"]),
    ("spurious", 0, lambda m: spurious(m.run)),
    ("reordered", 0, lambda m: m.reordered()),
    ("link used %", 1, lambda m: 100 * m.utilisation()),
    ("CPU idle %", 0, lambda m: 100 * m.run["cpu_idle"]),
)


def entry(values, digits):
    """The mean of the seeds, and the lowest and the highest."""
    if None in values:
        return NONE
    if isinstance(values[0], list):
        return " : ".join(entry(list(flow), digits) for flow in zip(*values, strict=True))
    mean = f"{statistics.fmean(values):.{digits}f}"
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return mean if low == high else f"{mean} ({low}–{high})"


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return value if value is None else float(f"{value:.{DIGITS}g}")


def told(run):
    """What a table needs to know of a run, or of the line that was kept of it: its figures by
    title, or why there are none."""
    def figures(measured):
        return {title: rounded(figure(measured)) for title, _, figure in COLUMNS}
    return tell(run, Measured, figures)


def entries(runs):
    """Of each column, from what is told of the seeds of a variant; or why there are none."""
    for key, text in (("missing", "missing"), ("fault", "not measured")):
        reasons = [run[key] for run in runs if key in run]
        if reasons:
            return f"{text}: {reasons[0]}"
    return [entry([run["figures"].get(title) for run in runs], digits)
            for title, digits, _ in COLUMNS]


def brief(figures):
    """What L4S and all other downloads got, and what 99 % of the L4S packets waited: of those that
    told() tells."""
    shares = [figures[f"{who} Mbit/s"] for who in ("L4S downloads", "all others")]
    rates = " : ".join(f"{share:.1f}" for share in shares if share is not None)
    p99 = figures["L P99 ms"]
    return f"{rates} Mbit/s" + ("" if p99 is None else f", {p99:.2f} ms")


def name_of(variant, runs):
    bound = all("figures" in run for run in runs) and is_cpu_bound(runs)
    return f"{variant} (CPU-bound: the link does not decide)" if bound else variant


def columns_of(rows):
    """Numbers of the columns that apply to one of these rows at least."""
    seen = [row for row in rows if isinstance(row, list)]
    return [i for i in range(len(COLUMNS)) if any(row[i] != NONE for row in seen)]


def lines_of(titles, shown, rows):
    """`rows`: [([what stands first], entries())]"""
    yield f"| {' | '.join([*titles, *(COLUMNS[i][0] for i in shown)])} |"
    yield "|" + "---|" * (len(titles) + len(shown))
    for first, row in rows:
        told = [row[i] for i in shown] if isinstance(row, list) else [row]
        yield f"| {' | '.join([*first, *told])} |"


def table(cell, results):
    """Lines of Markdown. `results`: {variant: [what is told of its seeds]}"""
    rows = [([name_of(variant, runs)], entries(runs)) for variant, runs in results.items()]
    yield from (f"## {cell.name}", "", f"{cell.title}.", "")
    yield from lines_of([""], columns_of(row for _, row in rows), rows)
    yield ""


def overview(measured):
    """The columns that matter most, of several cells. `measured`: [(cell, results)]"""
    rows = [([verdict.situation(cell), name_of(variant, runs)], entries(runs))
            for cell, results in measured for variant, runs in results.items()]
    yield from ("## Overview", "")
    shown = [i for i in columns_of(row for _, row in rows) if COLUMNS[i][0] in OVERVIEW]
    yield from lines_of(["", "queue"], shown, rows)
    yield ""
