#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draw the maps of the grid into report/. Runs in the build root, which has matplotlib."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))
import figures  # noqa: E402
import gridlines  # noqa: E402
import matrix  # noqa: E402
from store import REPORT  # noqa: E402

# Files of cells that vary rate and RTT, and how a row of the map is headed.
MIXES = {"pair": "1 L4S, 1 Cubic", "five-each": "5 L4S, 5 Cubic",
         "one-l4s-ten-cubic": "1 L4S, 10 Cubic", "ten-l4s-one-cubic": "10 L4S, 1 Cubic",
         "l4s-alone": "1 L4S"}


def grids(lines, name):
    """{mix: {contender: {(rate in Mbit/s, RTT in ms): figure}}} of what is there"""
    found = {}
    for cell in matrix.all_cells():
        mix = next((mix for mix in MIXES if cell.name.startswith(f"{mix}-")), None)
        place = cell.description["rates_mbit"][0], cell.description["rtt_ms"]
        for contender in gridlines.CONTENDERS:
            value = lines.get((cell.name, contender), {}).get(name)
            if mix and value is not None:
                found.setdefault(mix, {}).setdefault(contender, {})[place] = value
    return {MIXES[mix]: found[mix] for mix in MIXES if mix in found}


def main():
    lines = gridlines.read()
    REPORT.mkdir(exist_ok=True)
    for file, name, scale in (("map-sharing.svg", "ratio", figures.SHARING),
                              ("map-delay.svg", "L4S delay", figures.DELAY)):
        rows = grids(lines, name)
        if rows:
            (REPORT / file).write_text(figures.maps(rows, scale), encoding="utf-8")


if __name__ == "__main__":
    main()
