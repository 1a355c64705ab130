# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures of some cells as a table in Markdown: a row for each variant, with the mean
over its seeds and, where there are several, the lowest and the highest."""

import statistics

from summary import SCALABLE, Measured, MeasurementError, is_cpu_bound


def spurious(run):
    """Segments that the receiver reports it had already (RFC 2883), and timeouts that
    F-RTO found needless."""
    return sum(run["tcp"][name] for name in ("TcpExtTCPDSACKRecv", "TcpExtTCPDSACKOfoRecv",
                                             "TcpExtTCPSpuriousRTOs"))


def total(goodputs):
    """None where there is no such flow."""
    return sum(goodputs) if goodputs else None


def fallen_back(run):
    """Flows of Prague that ended as Cubic's; None where there are none."""
    ended = [flow["congestion"] for flow in run["flows"] if flow["kind"] == "prague"]
    return sum(name == "cubic" for name in ended) if ended else None


COLUMNS = (
    ("L4S downloads Mbit/s", 1, lambda m: total(m.goodputs_mbit(set(SCALABLE)))),
    ("all others Mbit/s", 1, lambda m: total(m.goodputs_mbit(m.kinds() - set(SCALABLE)))),
    ("fallen back", 0, lambda m: fallen_back(m.run)),
    ("the other way Mbit/s", 1, lambda m: total(m.goodputs_back_mbit())),
    ("L mean ms", 2, lambda m: m.delays("l").mean_ms()),
    ("L P99 ms", 2, lambda m: m.delays("l").quantile_ms(0.99)),
    ("L dropped", 0, lambda m: m.dropped("l")),
    ("C mean ms", 2, lambda m: m.delays("c").mean_ms()),
    ("C P99 ms", 2, lambda m: m.delays("c").quantile_ms(0.99)),
    ("largest frame in", 0, lambda m: m.largest("before")),
    ("largest frame out", 0, lambda m: m.largest("after")),
    ("retransmitted", 0, lambda m: m.run["tcp"]["TcpRetransSegs"]),
    ("spurious", 0, lambda m: spurious(m.run)),
    ("reordered", 0, lambda m: m.reordered()),
    ("link used %", 1, lambda m: 100 * m.utilisation()),
    ("CPU idle %", 0, lambda m: 100 * m.run["cpu_idle"]),
)


def entry(values, digits):
    if None in values:
        return "–"
    mean = f"{statistics.fmean(values):.{digits}f}"
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return mean if low == high else f"{mean} ({low}–{high})"


def row(variant, runs):
    """`runs`: the results of the seeds of a variant."""
    missing = [run["missing"] for run in runs if "missing" in run]
    if missing:
        return [variant, f"missing: {missing[0]}"]
    try:
        measured = [Measured(run) for run in runs]
    except MeasurementError as error:
        return [variant, f"not measured: {error}"]
    if is_cpu_bound(runs):
        variant += " (CPU-bound: the link does not decide)"
    return [variant, *(entry([figure(m) for m in measured], digits)
                       for _, digits, figure in COLUMNS)]


def table(cell, results):
    """Lines of Markdown. `results`: {variant: [what its seeds gave]}"""
    yield f"## {cell.name}"
    yield ""
    yield f"{cell.title}."
    yield ""
    yield "| | " + " | ".join(title for title, _, _ in COLUMNS) + " |"
    yield "|---|" + "---|" * len(COLUMNS)
    for variant, runs in results.items():
        yield "| " + " | ".join(row(variant, runs)) + " |"
    yield ""
