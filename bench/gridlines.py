# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grid.jsonl: what each run of the grid came to, a line each."""

import itertools
import json
from pathlib import Path

import matrix
import verdict
from summary import Measured, MeasurementError, counted

LINES = Path(__file__).with_name("grid.jsonl")
CONTENDERS = ("bpf_dualpi2", "htb+dualpi2", "curvy-red", "codel", "htb+fq_codel", "cake")
DIGITS = 4

# Name: of a Measured; None: does not apply.
FIGURES = {figure.name: figure.of for figure in verdict.FIGURES} | {
    "L4S mean": lambda measured: measured.delays("l").mean_ms(),
    "Classic mean": lambda measured: measured.delays("c").mean_ms(),
    "ratio": Measured.ratio,
    "L4S dropped": lambda measured: measured.share(measured.dropped("l"), "l"),
    "Classic dropped": lambda measured: measured.share(measured.dropped("c"), "c"),
}


def rounded(value):
    return float(f"{value:.{DIGITS}g}")


def line(run, raw, tree):
    """Of a finished run."""
    named = {"cell": run.cell, "contender": run.contender, "kernel": raw["kernel"], "tree": tree}
    try:
        measured = counted(raw)
    except MeasurementError as error:
        return named | {"fault": str(error)}
    values = {name: of(measured) for name, of in FIGURES.items()}
    return named | {name: rounded(value) for name, value in values.items() if value is not None}


def read():
    """{(cell, contender): line}"""
    try:
        lines = map(json.loads, LINES.read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        return {}
    return {(each["cell"], each["contender"]): each for each in lines}


def write(lines):
    """In the order of the cells and contenders, so that versions can be compared."""
    places = itertools.product((cell.name for cell in matrix.all_cells()), CONTENDERS)
    temporary = LINES.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(lines[place]) + "\n" for place in places
                                 if place in lines), encoding="utf-8")
    temporary.rename(LINES)
