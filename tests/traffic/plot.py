#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Draw the reports of the demo: the delay of both queues over time, FIFO above,
bpf_dualpi2 below. Usage: plot.py DIRECTORY, with fifo/ and bpf_dualpi2/ in it."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "dualpi2"  # the same picture, the same bytes
import matplotlib.pyplot as plt  # noqa: E402

TITLES = {"fifo": "FIFO: both flows wait for each other",
          "bpf_dualpi2": "bpf_dualpi2: L4S packets do not wait for Classic ones"}
QUEUES = {"c": ("Classic packets", "#b5543c"), "l": ("L4S packets", "#1f6f8b")}


def draw(axis, report, title):
    for queue, (label, colour) in QUEUES.items():
        times, delays = zip(*report["series"][queue], strict=True)
        mean = report["delay"][queue]["mean_ms"]
        axis.plot(times, delays, color=colour, linewidth=1.1,
                  label=f"{label}, mean {mean:.1f} ms")
    axis.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axis.set_ylabel("queueing delay (ms)")
    axis.set_ylim(bottom=0)
    axis.set_xlim(0, report["seconds"])
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    # Above the curves, at the right of the title.
    axis.legend(loc="lower right", bbox_to_anchor=(1, 0.98), frameon=False, fontsize=9)


def main():
    directory = Path(sys.argv[1])
    figure, axes = plt.subplots(2, 1, figsize=(8.5, 6), layout="constrained")
    for axis, (qdisc, title) in zip(axes, TITLES.items(), strict=True):
        draw(axis, json.loads((directory / qdisc / "report.json").read_text()), title)
    axes[-1].set_xlabel("time (s)")
    figure.savefig(directory / "delay.svg", metadata={"Date": None})
    figure.savefig(directory / "delay.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
