# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a run on a home line was like: figures of what guest/run.py leaves, and tables of them."""

import statistics

from summary import LEAST_IDLE, MeasurementError, quantile, tell
from table import NONE, rounded

BASELINE = "cake"
TALKS = {"game": "game", "game-l4s": "L4S game", "call": "call"}


class Seen:
    """One run that counts."""

    def __init__(self, run):
        if run["cpu_idle"] < LEAST_IDLE:
            raise MeasurementError("CPU-bound")
        self.run = run
        self.specification = run["specification"]

    def ping_ms(self, what):
        return self.run["ping"][f"{what}_ms"]

    def talk(self, name, direction):
        return self.run["beside"].get(name, {}).get(direction)

    def waits_ms(self, name, direction):
        """What a packet took beyond the line's own time, which it all has on its way down: sorted.
        None: nobody talked."""
        talk = self.talk(name, direction)
        own_ms = self.specification["rtt_ms"] if direction == "down" else 0
        return talk and [delay / 1000 - own_ms for delay in talk["delays_us"]]

    def wait_ms(self, name, direction, part):
        waits = self.waits_ms(name, direction)
        return quantile(waits, part) if waits else None

    def lost_percent(self, name):
        """Both ways together."""
        talks = [self.talk(name, direction) for direction in ("up", "down")]
        if None in talks:
            return None
        sent = sum(talk["sent"] for talk in talks)
        return 100 * (1 - sum(len(talk["delays_us"]) for talk in talks) / sent)

    def took_ms(self, what, part):
        """A look-up without answer takes forever, but it is told apart (unanswered())."""
        took = sorted(each for each in self.run["beside"].get(what, []) if each is not None)
        return 1000 * quantile(took, part) if took else None

    def unanswered(self):
        """Percent."""
        asked = self.run["beside"].get("look-up")
        return 100 * asked.count(None) / len(asked) if asked else None

    def pages(self):
        pages = self.run["beside"].get("browse")
        return None if pages is None else len(pages)

    def goodput_mbit(self, direction, kind=None):
        """Of all flows of that kind together; over the whole seconds after the warm-up."""
        begin_s = self.specification["warmup_s"]
        end_s = begin_s + self.specification["seconds"] + 0.5
        flows = [[(end - begin, size) for begin, end, size in flow["seconds"]
                  if begin >= begin_s and end <= end_s]
                 for flow in self.run["bulk"]
                 if flow["direction"] == direction and kind in (None, flow["kind"])]
        if not flows:
            return None
        return sum(sum(size for _, size in flow) * 8e-6 / sum(time for time, _ in flow)
                   for flow in flows)


def talk_columns(name, title):
    """Waiting times each way, and what was lost."""
    for direction in ("up", "down"):
        for part, label in ((0.5, "P50"), (0.99, "P99"), (1, "max")):
            yield (f"{title} {direction} {label} ms", 1,
                   lambda seen, d=direction, p=part: seen.wait_ms(name, d, p))
    yield f"{title} lost %", 2, lambda seen: seen.lost_percent(name)


# Title, digits, figure: None where it does not apply. A column that applies to no row is left out.
COLUMNS = (
    ("ping mean ms", 2, lambda seen: seen.ping_ms("mean")),
    ("ping max ms", 1, lambda seen: seen.ping_ms("max")),
    ("ping mdev ms", 2, lambda seen: seen.ping_ms("mdev")),
    *(column for name, title in TALKS.items() for column in talk_columns(name, title)),
    ("look-up P50 ms", 1, lambda seen: seen.took_ms("look-up", 0.5)),
    ("look-up P99 ms", 1, lambda seen: seen.took_ms("look-up", 0.99)),
    ("look-ups unanswered %", 1, lambda seen: seen.unanswered()),
    ("page P50 ms", 0, lambda seen: seen.took_ms("browse", 0.5)),
    ("page P95 ms", 0, lambda seen: seen.took_ms("browse", 0.95)),
    ("pages", 0, lambda seen: seen.pages()),
    ("up Mbit/s", 2, lambda seen: seen.goodput_mbit("up")),
    ("down Mbit/s", 2, lambda seen: seen.goodput_mbit("down")),
    ("L4S up Mbit/s", 2, lambda seen: seen.goodput_mbit("up", "l4s")),
    ("L4S down Mbit/s", 2, lambda seen: seen.goodput_mbit("down", "l4s")),
    ("CPU idle %", 0, lambda seen: 100 * seen.run["cpu_idle"]),
)
DIGITS_OF = {title: digits for title, digits, _ in COLUMNS}
# What has to be at most, or at least, that of the baseline.
LEAST = ("ping mean ms", "ping max ms", "game up P99 ms", "game down P99 ms", "page P50 ms",
         "page P95 ms")
MOST = ("up Mbit/s", "down Mbit/s")
OVERVIEW = (*LEAST, "call lost %", *MOST)


def told(run):
    """What a table needs to know of a run, or of the line that was kept of it: its figures by
    title, or why there are none."""
    return tell(run, Seen, lambda seen: {title: rounded(figure(seen))
                                         for title, _, figure in COLUMNS})


def median(runs):
    """{title: the median of the seeds}, of what told() tells; or why there are none."""
    for key, text in (("missing", "missing"), ("fault", "not measured")):
        reasons = [run[key] for run in runs if key in run]
        if reasons:
            return f"{text}: {reasons[0]}"
    figures = {}
    for title in DIGITS_OF:
        values = [run["figures"].get(title) for run in runs]
        figures[title] = None if None in values else statistics.median(values)
    return figures


def text(title, value):
    return NONE if value is None else f"{value:.{DIGITS_OF[title]}f}"


def worse(figures, baseline):
    """[(title, figure, the baseline's)] where one is worse, as it is printed."""
    found = []
    for title in (*LEAST, *MOST):
        own, other = figures[title], baseline[title]
        if own is None or other is None:
            continue
        difference = round(own, DIGITS_OF[title]) - round(other, DIGITS_OF[title])
        if difference * (1 if title in LEAST else -1) > 0:
            found.append((title, text(title, own), text(title, other)))
    return found


def medians_of(results):
    """{variant: figures, or why there are none}. `results`: {variant: [what is told of its
    seeds]}"""
    return {variant: median(runs) for variant, runs in results.items()}


def table(cell, medians):
    """Lines of Markdown: a row for each figure."""
    measured = [row for row in medians.values() if isinstance(row, dict)]
    shown = [title for title in DIGITS_OF if any(row[title] is not None for row in measured)]
    yield from (f"## {cell.name}", "", f"{cell.title}.", "")
    yield f"| | {' | '.join(medians)} |"
    yield "|---|" + "---:|" * len(medians)
    for title in shown:
        entries = (text(title, row[title]) if isinstance(row, dict) else NONE
                   for row in medians.values())
        yield f"| {title} | {' | '.join(entries)} |"
    yield ""
    for variant, row in medians.items():
        if isinstance(row, str):
            yield from (f"{variant}: {row}.", "")


def compared(medians, variant):
    """In what a variant is worse than the baseline, with the baseline's figure."""
    figures, baseline = medians.get(variant), medians.get(BASELINE)
    if not (isinstance(figures, dict) and isinstance(baseline, dict)):
        return NONE
    found = [f"{title} {own} ({other})" for title, own, other in worse(figures, baseline)]
    return ", ".join(found) if found else "nothing"


def overview(measured):
    """What matters most. `measured`: [(cell, medians)]. A row for each cell and variant."""
    rows = [(cell.name, variant, figures) for cell, medians in measured
            for variant, figures in medians.items() if isinstance(figures, dict)]
    shown = [title for title in OVERVIEW
             if any(figures[title] is not None for _, _, figures in rows)]
    yield from ("## Overview", "", f"| | | {' | '.join(shown)} |",
                "|---|---|" + "---:|" * len(shown))
    for name, variant, figures in rows:
        entries = (text(title, figures[title]) for title in shown)
        yield f"| {name} | {variant} | {' | '.join(entries)} |"
    yield ""


def comparison(measured):
    """`measured`: [(cell, medians)]. A row for each cell and variant but the baseline."""
    yield from (f"## Compared with {BASELINE}", "", "| | | worse in |", "|---|---|---|")
    for cell, medians in measured:
        for variant in medians:
            if variant != BASELINE:
                yield f"| {cell.name} | {variant} | {compared(medians, variant)} |"
    yield ""
