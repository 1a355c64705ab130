#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print what the lines of the grid say, as tables in Markdown."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))
import gridlines  # noqa: E402
import matrix  # noqa: E402
import verdict  # noqa: E402

BASE = "bpf_dualpi2"
OTHERS = [name for name in gridlines.CONTENDERS if name != BASE]
HEADINGS = ["cells"] + [figure.name for figure in verdict.FIGURES]
NONE = "–"


def cells_by_title():
    """{title: names of the cells of the grid that have it}; they differ in rate and RTT."""
    titles = {}
    for cell in matrix.all_cells():
        if cell.description["in_report"]:
            titles.setdefault(cell.title, []).append(cell.name)
    return titles


def values(lines, cells, contender, name):
    """{cell: this figure}, where there is one."""
    found = {cell: lines.get((cell, contender), {}).get(name) for cell in cells}
    return {cell: value for cell, value in found.items() if value is not None}


def tally(lines, cells, contender, figure):
    """In how many of the cells it is better than BASE, and in how many worse."""
    ours, base = (values(lines, cells, name, figure.name) for name in (contender, BASE))
    signs = [verdict.judge(figure, ours[cell], base[cell]) for cell in ours if cell in base]
    return f"{signs.count(1)} / {signs.count(-1)}" if signs else NONE


def tallies(lines, cells, contender):
    measured = sum((cell, contender) in lines for cell in cells)
    return [measured] + [tally(lines, cells, contender, figure) for figure in verdict.FIGURES]


def brief(value):
    return f"{value:.2g}"


def ratios(lines, cells, contender):
    """The least and the most."""
    seen = values(lines, cells, contender, "ratio").values()
    return "–".join(dict.fromkeys(map(brief, (min(seen), max(seen))))) if seen else NONE


def dropped(lines, cells, contender):
    """The most, in percent."""
    seen = values(lines, cells, contender, "L4S dropped").values()
    return brief(100 * max(seen)) if seen else NONE


def table(headings, rows):
    """`rows`: (head, entries) of each"""
    yield f"| | {' | '.join(headings)} |"
    yield "|---|" + "---:|" * len(headings)
    for head, entries in rows:
        yield f"| {head} | {' | '.join(map(str, entries))} |"
    yield ""


def by_contender(lines, titles, entry):
    """A row for each title that has such an entry."""
    for title, cells in titles.items():
        entries = [entry(lines, cells, name) for name in gridlines.CONTENDERS]
        if set(entries) - {NONE, "0"}:
            yield title, entries


def tables(lines):
    titles = cells_by_title()
    everywhere = sum(titles.values(), [])
    yield from ("## All cells", "")
    yield from table(HEADINGS, ((name, tallies(lines, everywhere, name)) for name in OTHERS))
    for name in OTHERS:
        yield from (f"## {name}", "")
        yield from table(HEADINGS, ((title, tallies(lines, cells, name))
                                    for title, cells in titles.items()))
    for heading, entry in (("Rates", ratios), ("L4S packets dropped", dropped)):
        yield from (f"## {heading}", "")
        yield from table(gridlines.CONTENDERS, by_contender(lines, titles, entry))


if __name__ == "__main__":
    print("\n".join(tables(gridlines.read())), end="")
