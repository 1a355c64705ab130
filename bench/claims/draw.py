#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draw what report/claims.jsonl has, a picture for each cell: delays, or of the cells that are
named here rates over time. Runs in the build root."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))
import figures  # noqa: E402
from store import REPORT, read_lines  # noqa: E402
from verdict import Results  # noqa: E402


def main():
    cells = {}
    for line in read_lines(REPORT / "claims.jsonl"):
        cells.setdefault(line["cell"], {}).setdefault(line["variant"], []).append(line)
    for cell, variants in cells.items():
        results = {variant: Results(lines) for variant, lines in variants.items()}
        picture = figures.rates_over_time if cell in sys.argv[1:] else figures.delay_curves
        (REPORT / f"claims-{cell}.svg").write_text(
            picture({variant: seen for variant, seen in results.items() if not seen.fault}),
            encoding="utf-8")


if __name__ == "__main__":
    main()
