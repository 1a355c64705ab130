# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a source says of its algorithm, and whether it holds here."""

import dataclasses
from collections.abc import Callable

from summary import counted, tell


@dataclasses.dataclass(frozen=True)
class Claim:
    key: str       # of its row in the record
    says: str      # the source
    scaled: str    # how that was brought to the lab
    measure: Callable  # of a Seen: (what was measured, in words; does it hold)
    why_not: str = ""  # one sentence, if it does not


@dataclasses.dataclass(frozen=True)
class Paper:
    title: str
    source: str
    cells: dict  # that it needs: {name: variants, or None for all}
    claims: tuple
    curves: tuple = ()  # cells whose delays are drawn
    rates: tuple = ()  # cells whose rates over time are drawn
    many: tuple = ()  # cells with all their seeds; of others the first one is enough
    # Of a Measured: what the claims need, for JSON. With it finished runs can have a line each in
    # the repository, and so go on on another machine; but not those of pictures.
    figures: Callable = None
    table: Callable = None  # of a Seen: lines of Markdown below the claims

    def tell(self, run):
        """Without `figures` a Measured itself is all that is to be known."""
        return tell(run, counted, self.figures or (lambda measured: measured))

    def is_drawn(self, cell):
        return cell in (*self.curves, *self.rates)


class Seen:
    """What the runs of a paper gave: for each cell and variant what the paper needs of each
    seed."""

    def __init__(self, measured):
        self.measured = measured

    def of(self, cell, variant, figure):
        """`figure`: of a Measured, or of the figures of the paper; of the first seed."""
        return self.each(cell, variant, figure)[0]

    def each(self, cell, variant, figure):
        """The same of each seed."""
        return [figure(one) for one in self.measured[cell, variant]]


def in_words(values, digits=1):
    """`{"mainline": 1.0, ...}` as text"""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())
