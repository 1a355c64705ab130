#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write the report: report/index.html from report/results.jsonl. Runs in the build root, which
has matplotlib."""

import html
import statistics
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))
import figures  # noqa: E402
import verdict  # noqa: E402
from store import REPORT, read_lines  # noqa: E402
from summary import SCALABLE  # noqa: E402

FAIRNESS_CELLS = "pair"  # the file whose cells the fairness map shows

INTRODUCTION = """
<p>A download fills the queue in front of the slowest link, and calls, games and web pages wait
in that queue too. A <b>queue discipline</b> (qdisc) decides who waits how long. <b>L4S</b>
senders react to early signs of a queue, so they hardly have to wait. <b>DualPI2</b> gives them
a queue of their own, while L4S and ordinary ("Classic") downloads still get about the same
share.</p>
<p>Here the same flows go through the same link with eight queue disciplines. Is
<b>bpf_dualpi2</b>, this project, as good as <b>sch_dualpi2</b>, the kernel's own (which many
kernels lack), and better than what you use today? Every entry compares with sch_dualpi2 and
shows the delay that 99 % of the L4S packets and of all others stay below; hover over it for all
figures.</p>
"""
SYMBOLS = {"better": "▲", "equal": "=", "worse": "▼", "mixed": "◆"}
STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 76em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: .3em .6em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top }
td small { color: #555; display: block; max-width: 15em }
.better { background: #dff0e0 } .worse { background: #f7dedb } .mixed { background: #f6eed2 }
.none { color: #777 }
svg { max-width: 100%; height: auto }
details { border-top: 1px solid #ddd; padding: .4em 0 } summary { cursor: pointer }
.figures td, .figures th { text-align: right } .figures td:first-child { text-align: left }
"""


class Page:
    def __init__(self):
        self.parts = []

    def add(self, tag, text="", **attributes):
        """An element; `text` is HTML."""
        given = "".join(f' {name.rstrip("_")}="{html.escape(str(value))}"'
                        for name, value in attributes.items())
        self.parts.append(f"<{tag}{given}>{text}</{tag}>\n")

    def write(self, path):
        path.write_text(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>bpf_dualpi2 and its alternatives</title><style>{STYLE}</style></head>\n"
            f"<body>\n{''.join(self.parts)}</body></html>\n", encoding="utf-8")


def described(cell):
    rates = cell.description["rates_mbit"]
    return (f"{html.escape(cell.title)}<small>{' → '.join(map(str, rates))} Mbit/s, RTT "
            f"{cell.description['rtt_ms']} ms ({cell.name})</small>")


def verdict_entry(ours, native, is_yardstick):
    """One entry of the first table."""
    if is_yardstick and not ours.fault:
        return f'<td title="{tooltip(ours, None)}">the yardstick{delays_in_short(ours)}</td>'
    word, compared = verdict.verdict(ours, native)
    symbol = SYMBOLS.get(word)
    if not symbol:
        return f'<td class="none">{html.escape(word)}</td>'
    return (f'<td class="{word}" title="{tooltip(ours, native)}">{symbol} {word}'
            f"<small>{html.escape(verdict.differences(compared))}</small>"
            f"{delays_in_short(ours)}</td>")


def delays_in_short(ours):
    shown = [f"{label} {figure.text(ours.mean(figure))}" for label, figure in
             zip(("L4S", "others"), verdict.FIGURES, strict=False) if figure.name in ours.values]
    return f"<small>{', '.join(shown)}</small>"


def tooltip(ours, native):
    lines = []
    for figure in verdict.FIGURES:
        if figure.name in ours.values:
            other = (f" (sch_dualpi2: {figure.text(native.mean(figure))})"
                     if native and figure.name in native.values else "")
            lines.append(f"{figure.name} {figure.text(ours.mean(figure))}{other}")
    return html.escape("\n".join(lines))


def verdict_table(cells):
    names = verdict.contenders(cells)
    yield "<tr><th>situation</th>" + "".join(f"<th>{name}</th>" for name in names) + "</tr>"
    for cell, results in cells.items():
        native = results.get(verdict.YARDSTICK)
        entries = [verdict_entry(results[name], native, name == verdict.YARDSTICK)
                   if name in results else '<td class="none">not run</td>'
                   for name in names]
        yield f"<tr><td>{described(cell)}</td>{''.join(entries)}</tr>"


def percent(part):
    return "–" if part is None else f"{100 * part:.2f} %"


def milliseconds(value):
    return "–" if value is None else f"{value:.2f}"


COLUMNS = (
    ("L4S delay, ms: mean, P50, P99, P99.9", lambda m: delay_text(m, "l")),
    ("Classic delay, ms", lambda m: delay_text(m, "c")),
    ("goodput, Mbit/s: L4S", lambda m: rates_text(m, set(SCALABLE))),
    ("Classic", lambda m: rates_text(m, figures.KINDS["Classic"][1])),
    ("other", lambda m: rates_text(m, {"udp", "web"})),
    ("L4S flow : Classic flow", lambda m: ratio_text(m)),
    ("link used", lambda m: percent(m.utilisation())),
    ("L4S marked", lambda m: percent(m.share(m.count("marked", "l"), "l"))),
    ("dropped", lambda m: percent(m.share(m.dropped("l"), "l"))),
    ("Classic marked", lambda m: percent(m.share(m.count("marked", "c"), "c"))),
    ("dropped", lambda m: percent(m.share(m.dropped("c"), "c"))),
    ("unloaded delay, ms", lambda m: f"{m.unloaded_ns / 1e6:.3f}"),
    ("CPU idle", lambda m: percent(m.run["cpu_idle"])),
)


def delay_text(measured, queue):
    delays = measured.delays(queue)
    return " / ".join(milliseconds(value) for value in
                      (delays.mean_ms(), *map(delays.quantile_ms, (0.5, 0.99, 0.999))))


def rates_text(measured, kinds):
    goodputs = measured.goodputs_mbit(kinds)
    if not goodputs:
        return "–"
    each = f"{statistics.fmean(goodputs):.2f}"
    return each if len(goodputs) == 1 else f"{len(goodputs)} × {each}"


def ratio_text(measured):
    ratio = measured.ratio()
    return "–" if ratio is None else f"{ratio:.2f}"


def verdict_columns(results):
    """Of the figures that verdicts rest on, those that not every cell has."""
    return [figure for figure in verdict.FIGURES if figure.name not in
            ("L4S delay", "Classic delay", "link used") and
            any(figure.name in seen.values for seen in results.values())]


def figures_table(results):
    """All figures of a cell, of the first run of each contender."""
    extra = verdict_columns(results)
    yield "<tr><th></th>" + "".join(f"<th>{title}</th>" for title, _ in COLUMNS) + "".join(
        f'<th title="{figure.meaning}">{figure.name}</th>' for figure in extra) + "</tr>"
    for contender, seen in results.items():
        if not seen.measured:
            yield (f"<tr><td>{contender}</td><td colspan={len(COLUMNS) + len(extra)}>"
                   f"{html.escape(seen.fault)}</td></tr>")
            continue
        entries = [text(seen.measured[0]) for _, text in COLUMNS]
        entries += [figure.text(seen.values[figure.name][0]) if figure.name in seen.values
                    else "–" for figure in extra]
        yield (f"<tr><td>{contender}</td>" + "".join(f"<td>{entry}</td>" for entry in entries)
               + "</tr>")


def fairness_grids(cells):
    grids = {}
    for cell, results in cells.items():
        if cell.name.split("-")[0] != FAIRNESS_CELLS:
            continue
        place = (cell.description["rates_mbit"][0], cell.description["rtt_ms"])
        for contender, seen in results.items():
            ratio = None if seen.fault else seen.measured[0].ratio()
            if ratio is not None:
                grids.setdefault(contender, {})[place] = ratio
    return grids


def report(cells, kernel):
    page = Page()
    page.add("h1", "bpf_dualpi2 and its alternatives")
    page.parts.append(INTRODUCTION)
    page.add("table", "\n".join(verdict_table(cells)))
    page.add("p", f"<small>{html.escape(verdict.rule())} Delays are those of every packet in the "
             "queue, measured outside it, less the delay of the unloaded path. Kernel "
             f"{html.escape(kernel)}, in virtual time: tests/lab/README.md.</small>")
    grids = fairness_grids(cells)
    if grids:
        page.add("h2", "Who gets how much")
        page.add("p", "Rate of an L4S download divided by that of a Classic one on the same link: "
                 "1 is even, above 1 (blue) L4S gets more.")
        page.parts.append(figures.maps({"": grids}, figures.SHARING))
    page.add("h2", "Each situation")
    for cell, results in cells.items():
        measured = {name: seen for name, seen in results.items() if seen.measured}
        body = f"<summary>{described(cell)}</summary>"
        body += f'<table class="figures">{"".join(figures_table(results))}</table>'
        if measured:
            body += figures.delay_curves(measured) + figures.rates_over_time(measured)
        page.add("details", body)
    return page


def main():
    lines = list(read_lines())
    if not lines:
        sys.exit("page.py: no results yet")
    report(verdict.by_cell(lines), lines[0]["kernel"]).write(REPORT / "index.html")


if __name__ == "__main__":
    main()
