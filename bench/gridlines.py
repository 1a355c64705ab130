# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""grid.jsonl: what each run of the grid came to, a line each."""

import itertools
from pathlib import Path

import kept
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


def line(run, raw, version):
    """Of a finished run."""
    named = {"cell": run.cell, "contender": run.contender, "kernel": raw["kernel"],
             "tree": version}
    try:
        measured = counted(raw)
    except MeasurementError as error:
        return named | {"fault": str(error)}
    values = {name: of(measured) for name, of in FIGURES.items()}
    return named | {name: rounded(value) for name, value in values.items() if value is not None}


def key(run):
    return run.cell, run.contender


def read():
    """{(cell, contender): line}"""
    return {(line["cell"], line["contender"]): line for line in kept.read(LINES)}


def write(lines):
    """In the order of the cells and contenders, so that versions can be compared."""
    places = itertools.product((cell.name for cell in matrix.all_cells()), CONTENDERS)
    kept.write(LINES, [lines[place] for place in places if place in lines])
