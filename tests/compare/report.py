# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the comparison has seen, row by row; each row asserts what it says."""

import math

from differences import DIFFERENCES

# Dice may give a count that is this improbable before it counts as wrong: one false
# alarm in 10^5 counts. (Runs repeat, dice included: see tests/lab/README.md.)
SIGNIFICANCE = 1e-5

# So that a row of the table has 100 columns at most.
WHAT_WIDTH = 48


def binomial_probability(hits, trials, probability):
    ways = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
    return math.exp(ways + hits * math.log(probability) +
                    (trials - hits) * math.log1p(-probability))


def first_probable(masses):
    """The first place before which lies more than half of what may be improbable."""
    below = 0.0
    for place, mass in enumerate(masses):
        below += mass
        if below > SIGNIFICANCE / 2:
            return place
    raise AssertionError("probabilities add up to 1")


def binomial_bounds(trials, probability):
    """The lowest and the highest count that `trials` dice may give: the exact binomial
    distribution, SIGNIFICANCE / 2 cut off at either end."""
    if probability in (0, 1):
        return int(trials * probability), int(trials * probability)
    masses = [binomial_probability(hits, trials, probability) for hits in range(trials + 1)]
    return first_probable(masses), trials - first_probable(reversed(masses))


def span(places):
    """A row of numbers without gaps, in short."""
    if not places:
        return "none"
    assert places == list(range(places[0], places[-1] + 1)), places
    return f"{places[0]} to {places[-1]}"


class Report:
    def __init__(self):
        self.rows = []

    def row(self, what, native, ours, result, detail=""):
        assert len(what) <= WHAT_WIDTH, what
        self.rows.append({"what": what, "native": str(native), "ours": str(ours),
                          "result": result, "detail": detail})

    def equal(self, what, native, ours, shown=None):
        """Both are the same. `shown`: what the table has in place of long values."""
        same = native == ours
        if shown is None:
            shown = native
        self.row(what, shown, shown if same else "?", "equal" if same else "NOT EQUAL")
        assert native == ours, what

    def differs(self, what, native, ours, difference, as_described):
        """They differ as DIFFERENCES says. `as_described`: that is what was seen."""
        assert difference in DIFFERENCES
        self.row(what, native, ours, "differs" if as_described else "NOT AS DESCRIBED", difference)
        assert as_described, f"{what}: native {native}, ours {ours}, not {difference}"

    def share(self, what, trials, probability, native, ours):
        """Of `trials` packets native hits each with `probability`, by dice, and ours with the
        same one at even distances, so that its count is known to 1."""
        expected = trials * probability
        low, high = binomial_bounds(trials, probability)
        spread = math.sqrt(expected * (1 - probability))
        off = f" {(native - expected) / spread:+.1f} sd" if spread else ""
        fits = low <= native <= high and abs(ours - expected) <= 1
        self.row(f"{what}/{trials}", native, ours, "fits" if fits else "DOES NOT FIT",
                 f"{expected:.4g}{off}")
        assert fits, (f"{what}: native {native} (may be {low} to {high}), ours {ours} "
                      f"(should be {expected:.1f})")
