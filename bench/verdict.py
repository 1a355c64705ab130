# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Is a contender better than the kernel's own DualPI2, equal or worse? And the rule for it."""

import dataclasses
import statistics
import textwrap
from collections.abc import Callable

import matrix
from summary import GREEDY, Measured, MeasurementError, is_cpu_bound, jain, quantile

YARDSTICK = "htb+dualpi2"
RELATIVE = 0.1
RULE = (f"Two figures are equal if they differ by no more than {RELATIVE:.0%}, or by no more than "
        "the runs of either one differ among themselves (in most cells both DualPI2 are run "
        "twice, with flows that begin some milliseconds apart), or by less than matters: ")


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    meaning: str
    unit: str
    digits: int
    sign: int  # 1: more is better, -1: less is
    matters: float  # a smaller difference is none
    of: Callable  # of a Measured; None: does not apply

    def text(self, value):
        return f"{value:.{self.digits}f}{self.unit}"


def delay_p99(queue):
    def of(measured):
        delays = measured.delays(queue)
        # A handshake is no traffic of a class.
        return delays.quantile_ms(0.99) if delays.count >= 100 else None
    return of


def sharing(measured):
    goodputs = measured.goodputs_mbit(GREEDY)
    return jain(goodputs) if len(goodputs) > 1 else None


def utilisation(measured):
    """Only flows that take what they can get have to fill the link."""
    return 100 * measured.utilisation() if measured.kinds() & set(GREEDY) else None


def completion(measured):
    took = measured.completion_ms()
    return quantile(took, 0.95) if took else None


def settling(measured):
    phases = range(1, len(measured.rates_mbit))
    return max((measured.settling_s(phase) for phase in phases), default=None)


FIGURES = (
    Figure("L4S delay", "99 % of the L4S packets wait no longer", " ms", 2, -1, 0.1,
           delay_p99("l")),
    Figure("Classic delay", "99 % of all other packets wait no longer", " ms", 1, -1, 1,
           delay_p99("c")),
    Figure("sharing", "how evenly the downloads share the link (Jain's index; 1 is best)", "", 3,
           1, 0.05, sharing),
    Figure("link used", "part of the link's rate that is used", " %", 1, 1, 2, utilisation),
    Figure("short downloads", "95 % of the short downloads take no longer", " ms", 0, -1, 10,
           completion),
    Figure("settling", "after the link's rate has changed, until delay and use are steady", " s",
           1, -1, 0.3, settling),
)


class Results:
    """What the seeds of one contender gave in one cell."""

    def __init__(self, runs):
        self.fault = next((f"missing: {run['missing']}" for run in runs if "missing" in run), None)
        self.values = {}
        self.measured = []
        if self.fault:
            return
        try:
            self.measured = [Measured(run) for run in runs]
        except MeasurementError as error:
            self.fault = f"not measured: {error}"
            return
        if is_cpu_bound(runs):
            self.fault = "CPU-bound: the guest's CPU decided, not the link"
            return
        for figure in FIGURES:
            values = [figure.of(measured) for measured in self.measured]
            if None not in values:
                self.values[figure.name] = values

    def mean(self, figure):
        return statistics.fmean(self.values[figure.name])

    def spread(self, figure):
        values = self.values[figure.name]
        return max(values) - min(values)


def judge(figure, ours, other, spread=0):
    """1: ours is better than the other, 0: equal, -1: worse. `spread`: by how much runs of the
    same differ."""
    difference = ours - other
    if abs(difference) <= max(RELATIVE * abs(other), figure.matters, spread):
        return 0
    return figure.sign if difference > 0 else -figure.sign


def compare(figure, ours, native):
    """judge() of two Results."""
    return judge(figure, ours.mean(figure), native.mean(figure),
                 max(ours.spread(figure), native.spread(figure)))


def verdict(ours, native):
    """(word, {figure's name: -1, 0 or 1}); word: better, equal, worse, mixed, or why there is
    no verdict."""
    if ours.fault:
        return ours.fault, {}
    if native is None or native.fault:
        return "no yardstick", {}
    compared = {figure.name: compare(figure, ours, native) for figure in FIGURES
                if figure.name in ours.values and figure.name in native.values}
    better, worse = (sign in compared.values() for sign in (1, -1))
    word = "mixed" if better and worse else "better" if better else "worse" if worse else "equal"
    return word, compared


def differences(compared):
    """In words: what is better, and what is worse."""
    parts = []
    for sign, word in ((1, "better"), (-1, "worse")):
        names = [name for name, seen in compared.items() if seen == sign]
        if names:
            parts.append(f"{word}: {', '.join(names)}")
    return "; ".join(parts)


def rule():
    """The rule in words."""
    least = ", ".join(f"{figure.name} {figure.text(figure.matters)}" for figure in FIGURES)
    return f"{RULE}{least}."


def by_cell(lines):
    """{cell: {contender: Results}} of the lines of results.jsonl, in the order of the files
    and of the contenders."""
    runs = {}
    for line in lines:
        runs.setdefault((line["cell"], line["contender"]), []).append(line)
    cells = {}
    for cell in matrix.all_cells():
        results = {contender: Results(runs[cell.name, contender])
                   for contender in matrix.SEEDS if (cell.name, contender) in runs}
        if results:
            cells[cell] = results
    return cells


def contenders(cells):
    """Those of the cells of by_cell(), in their order; not those that only some cells name."""
    return [name for name in matrix.SEEDS if name not in matrix.ONLY_NAMED and
            any(name in results for results in cells.values())]


# ---- as tables in Markdown ------------------------------------------------------------


def situation(cell):
    rates = " → ".join(map(str, cell.description["rates_mbit"]))
    return f"{cell.title} ({rates} Mbit/s, RTT {cell.description['rtt_ms']} ms)"


def in_short(milliseconds):
    """Two digits that count."""
    return f"{milliseconds:.{0 if milliseconds >= 10 else 1 if milliseconds >= 1 else 2}f}"


def delays_in_short(results):
    """What 99 % of the packets of each class wait at most."""
    if not results or results.fault:
        return "–"
    return " / ".join(in_short(results.mean(figure)) for figure in FIGURES[:2]
                      if figure.name in results.values)


def summary(cells):
    names = contenders(cells)
    yield from ("## Summary", "", "| L4S / Classic delay, P99 in ms | " + " | ".join(names) + " |",
                "|---|" + "---:|" * len(names))
    for cell, results in cells.items():
        entries = (delays_in_short(results.get(name)) for name in names)
        yield f"| {situation(cell)} | {' | '.join(entries)} |"


def row(name, results, shown):
    """A contender in the table of a cell."""
    ours, native = results[name], results.get(YARDSTICK)
    if ours.fault:
        return [name, *("–" for _ in shown), ours.fault]
    word, compared = ("", {}) if name == YARDSTICK else verdict(ours, native)
    return [name, *(figure.text(ours.mean(figure)) if figure.name in ours.values else "–"
                    for figure in shown), differences(compared) or word]


def tables(cells):
    """The lines of the record bench.md. `cells`: by_cell()"""
    yield from summary(cells)
    for cell, results in cells.items():
        shown = [figure for figure in FIGURES
                 if any(figure.name in seen.values for seen in results.values())]
        yield from ("", f"## {cell.name}", "", textwrap.fill(f"{situation(cell)}.", 80), "",
                    "| | " + " | ".join(
            figure.name for figure in shown) + f" | compared with {YARDSTICK} |",
            "|---|" + "---:|" * len(shown) + "---|")
        for name in results:
            yield f"| {' | '.join(row(name, results, shown))} |"
