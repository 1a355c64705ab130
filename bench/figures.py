# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The report's figures, each as the text of an SVG element."""

import dataclasses
import io
import math
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({
    "svg.hashsalt": "dualpi2",  # the same picture, the same bytes
    "svg.fonttype": "none",     # letters stay letters
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 9,
    "font.family": "sans-serif",
})
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402
from summary import CLASSIC, SCALABLE  # noqa: E402

COLOURS = {"bpf_dualpi2": "#1f6f8b", "htb+dualpi2": "#d9822b", "curvy-red": "#111111",
           "codel": "#2ca58d", "htb+fq_codel": "#6b8e23", "cake": "#8e5ea2",
           "htb+fq_pie": "#c0504d", "htb+pfifo": "#7f7f7f", "htb+codel": "#a3c644",
           "htb+pie": "#e39b98", "htb+red": "#b8860b", "dualq-2015": "#d62790", "vdq": "#3949ab",
           "htb+own": "#00b0f0", "bpf_dualpi2_mq": "#0b3c5d"}
CLASSES = {"l": "L4S packets", "c": "all other packets"}
LEAST_DELAY_MS = 0.01  # the left end of the logarithmic axis
KINDS = {  # what is drawn as one line: label, colour, kinds of flows
    "L4S": ("#1f6f8b", set(SCALABLE)),
    "Classic": ("#b5543c", set(CLASSIC)),
    "UDP": ("#444444", {"udp"}),
    "web": ("#6b8e23", {"web"}),
}


def as_svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg"):]


def delay_curves(results):
    """How many packets waited how long. `results`: {contender: verdict.Results}"""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained", sharey=True)
    for axis, (queue, label) in zip(axes, CLASSES.items(), strict=True):
        for contender, seen in results.items():
            delays = seen.measured[0].delays(queue)
            if delays.count:
                times, parts = zip(*delays.curve(), strict=True)
                axis.step([max(LEAST_DELAY_MS, time) for time in times],
                          [100 * part for part in parts], where="post",
                          color=COLOURS[contender], label=contender, linewidth=1.3)
        axis.set_xscale("log")
        axis.set_xlim(left=LEAST_DELAY_MS)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_xlabel(f"delay of {label} (ms)")
        if not axis.lines:
            axis.text(0.5, 0.5, "none", transform=axis.transAxes, ha="center")
    axes[0].set_ylabel("packets that wait no longer (%)")
    fullest = max(axes, key=lambda axis: len(axis.lines))
    figure.legend(*fullest.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return as_svg(figure)


def rates_over_time(results):
    """What each class of flows got, a panel for each contender."""
    figure, axes = plt.subplots(1, len(results), figsize=(2.2 * len(results) + 0.6, 2.4),
                                layout="constrained", sharey=True, squeeze=False)
    for axis, (contender, seen) in zip(axes[0], results.items(), strict=True):
        measured = seen.measured[0]
        bin_s = measured.run["tap"]["bin_s"]
        for label, (colour, kinds) in KINDS.items():
            if not kinds & measured.kinds():
                continue
            bins = measured.series(kinds)
            axis.plot([bin_s * number for number in range(len(bins))],
                      [place["bytes"] * 8e-6 / bin_s for place in bins],
                      color=colour, label=label, linewidth=0.9)
        axis.set_title(contender, fontsize=9, loc="left")
        axis.set_xlabel("time (s)")
    axes[0][0].set_ylim(bottom=0)  # of all; once all are drawn, so that the top fits all
    axes[0][0].set_ylabel("rate (Mbit/s)")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper",
                  frameon=False)
    return as_svg(figure)


@dataclasses.dataclass(frozen=True)
class Scale:
    """Colours of a map. `strong`: from here on the ground is too dark for black letters."""

    label: str
    colours: str
    low: float
    high: float
    ticks: tuple
    strong: Callable


SHARING = Scale("L4S rate / Classic rate", "RdBu", 1 / 8, 8, (1 / 8, 1 / 2, 1, 2, 8),
                lambda ratio: not 1 / 4 <= ratio <= 4)
DELAY = Scale("L4S delay, P99 (ms)", "YlOrRd", 0.3, 100, (0.5, 1, 3, 10, 30, 100),
              lambda delay: delay > 20)


def draw_map(axis, grid, rates, rtts, scale):
    """`grid`: {(rate in Mbit/s, RTT in ms): figure}"""
    cells = [[grid.get((rate, rtt), math.nan) for rtt in rtts] for rate in rates]
    image = axis.imshow(cells, cmap=scale.colours, norm=LogNorm(scale.low, scale.high),
                        aspect="auto", origin="lower")
    for row, line in enumerate(cells):
        for column, value in enumerate(line):
            if not math.isnan(value):
                axis.text(column, row, f"{value:.2g}" if value < 100 else f"{value:.0f}",
                          ha="center", va="center", fontsize=8,
                          color="white" if scale.strong(value) else "black")
    axis.grid(visible=False)
    axis.set_xticks(range(len(rtts)), rtts)
    axis.set_yticks(range(len(rates)), rates)
    return image


def maps(rows, scale):
    """A map for each mix and contender. `rows`: {mix: {contender: grid}}"""
    grids = [grid for row in rows.values() for grid in row.values()]
    rates, rtts = (sorted({place[part] for grid in grids for place in grid}) for part in (0, 1))
    contenders = list(dict.fromkeys(name for row in rows.values() for name in row))
    figure, axes = plt.subplots(
        len(rows), len(contenders), figsize=(2.1 * len(contenders) + 0.8, 2.2 * len(rows) + 0.4),
        layout="constrained", sharex=True, sharey=True, squeeze=False)
    for line, (mix, row) in zip(axes, rows.items(), strict=True):
        for axis, name in zip(line, contenders, strict=True):
            image = draw_map(axis, row.get(name, {}), rates, rtts, scale)
        line[0].set_ylabel(f"{mix}\nrate (Mbit/s)" if mix else "rate (Mbit/s)")
    for axis, name in zip(axes[0], contenders, strict=True):
        axis.set_title(name, fontsize=9, loc="left")
    for axis in axes[-1]:
        axis.set_xlabel("RTT (ms)")
    figure.colorbar(image, ax=axes.ravel().tolist(), ticks=scale.ticks, label=scale.label,
                    format=lambda value, _: f"{value:g}")
    return as_svg(figure)
