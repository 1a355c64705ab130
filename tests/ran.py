# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of a run of tests, by test file and kernel: which ran where, and what it cost. The
record of the last one tells the next one what takes how long."""

import re
from collections import Counter
from pathlib import Path

RECORD = Path(__file__).resolve().parents[1] / "docs/records/test-kernels.txt"
NOTHING = "-"
IN_ALL = "guests, seconds of real time"
UNKNOWN_SECONDS = 30  # of a row that the record has not


def cell(counts):
    if not counts:
        return NOTHING
    failed = f" {counts['failed']} FAILED" if counts["failed"] else ""
    return f"{counts['passed']}{failed} {counts['seconds']:.0f}s"


def table(guests, in_order):
    """Lines: what passed in each row and the seconds for which the guests' CPUs were busy with it,
    by kernel; at last the guests and their seconds of real time."""
    found, in_all = {}, {}
    for guest in guests:
        for row, counts in guest.counted().items():
            found.setdefault(row, {}).setdefault(guest.kernel, Counter()).update(counts)
        in_all.setdefault(guest.kernel, Counter()).update(
            {"passed": 1, "seconds": round(guest.seconds)})
    versions = sorted(in_all, key=in_order)
    rows = [["passed, seconds of the CPU", *versions],
            *([row, *(cell(found[row].get(version)) for version in versions)]
              for row in sorted(found)),
            [IN_ALL, *(cell(in_all[version]) for version in versions)]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([first.ljust(widths[0]),
                       *(text.rjust(width) for text, width in
                         zip(others, widths[1:], strict=True))]).rstrip()
            for first, *others in rows]


def recorded_seconds():
    """By row: the longest on any kernel."""
    seconds = {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        row, *cells = re.split("  +", line.strip())
        taken = [int(found[1]) for one in cells if (found := re.search(r" (\d+)s$", one))]
        if taken:
            seconds[row] = max(taken)
    return seconds
