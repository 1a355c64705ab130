# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The report's figures, each as the text of an SVG element."""

import io
import math

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

COLOURS = {"bpf_dualpi2": "#1f6f8b", "htb+dualpi2": "#d9822b", "htb+fq_codel": "#6b8e23",
           "cake": "#8e5ea2", "htb+fq_pie": "#c0504d", "htb+pfifo": "#7f7f7f"}
CLASSES = {"l": "L4S packets", "c": "all other packets"}
LEAST_DELAY_MS = 0.01  # the left end of the logarithmic axis
KINDS = {  # what is drawn as one line: label, colour, kinds of flows
    "L4S": ("#1f6f8b", {"l4s"}),
    "Classic": ("#b5543c", {"cubic", "cubic-ecn", "reno", "bbr"}),
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


def fairness_map(grids):
    """L4S rate by Classic rate of a flow, over rate and RTT of the link.
    `grids`: {contender: {(rate in Mbit/s, RTT in ms): ratio}}"""
    rates = sorted({rate for grid in grids.values() for rate, _ in grid})
    rtts = sorted({rtt for grid in grids.values() for _, rtt in grid})
    figure, axes = plt.subplots(1, len(grids), figsize=(2.1 * len(grids) + 0.8, 2.6),
                                layout="constrained", sharey=True, squeeze=False)
    for axis, (contender, grid) in zip(axes[0], grids.items(), strict=True):
        cells = [[grid.get((rate, rtt), math.nan) for rtt in rtts] for rate in rates]
        image = axis.imshow(cells, cmap="RdBu", norm=LogNorm(1 / 8, 8), aspect="auto",
                            origin="lower")
        for row, line in enumerate(cells):
            for column, ratio in enumerate(line):
                if not math.isnan(ratio):
                    axis.text(column, row, f"{ratio:.2g}", ha="center", va="center", fontsize=8,
                              color="white" if abs(math.log(ratio)) > math.log(4) else "black")
        axis.grid(visible=False)
        axis.set_xticks(range(len(rtts)), rtts)
        axis.set_yticks(range(len(rates)), rates)
        axis.set_xlabel("RTT (ms)")
        axis.set_title(contender, fontsize=9, loc="left")
    axes[0][0].set_ylabel("rate (Mbit/s)")
    figure.colorbar(image, ax=axes[0].tolist(), ticks=[1 / 8, 1 / 2, 1, 2, 8],
                    format=lambda value, _: f"{value:g}")
    return as_svg(figure)
