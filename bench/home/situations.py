# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cells of home lines, from the files in cells/, and the runs that they ask for."""

import dataclasses
import itertools
import tomllib
from pathlib import Path

import matrix

CELLS = Path(__file__).resolve().parent / "cells"
SEEDS = 5
CALL_MBIT = 1
# A call adapts to its line: so much of the upload it takes at most.
CALL_SHARE = 0.2
DEFAULTS = {
    "l4s": 0,
    "one_host": False,
    "shaped_percent": [92.5, 95],
    "fifo_ms": 100,
    "seconds": 20,
    "seeds": SEEDS,
}
REQUIRED = {"title", "lines_mbit", "rtt_ms", "cubic", "beside", "variants"}


@dataclasses.dataclass(frozen=True)
class Run(matrix.Run):
    """One guest; `specification` is what guest/run.py gets."""

    def cost(self):
        """About how long it takes, in seconds on one CPU: booting, and the packets."""
        spec = self.specification
        lasts = spec["warmup_s"] + spec["seconds"]
        return 15 + lasts * (0.5 + 0.07 * (spec["down_mbit"] + spec["up_mbit"]))


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    name: str
    title: str
    situation: dict  # what all runs have in their specification
    variants: list
    seeds: int

    def runs(self):
        for variant in self.variants:
            contender = variant["contender"]
            for seed in range(self.seeds):
                yield Run(self.name, variant.get("name", contender), contender, seed,
                          self.situation | {"contender": contender, "seed": seed,
                                            "options": variant.get("options", [])})


def each_way(flows):
    return {"up": flows, "down": flows}


def situation(described, line_mbit, rtt_ms, cubic):
    down_mbit, up_mbit = line_mbit
    down_percent, up_percent = described["shaped_percent"]
    return {
        "down_mbit": down_mbit, "up_mbit": up_mbit,
        "shaped_down_kbit": round(down_mbit * 10 * down_percent),
        "shaped_up_kbit": round(up_mbit * 10 * up_percent),
        "fifo_ms": described["fifo_ms"], "rtt_ms": rtt_ms,
        "cubic": each_way(cubic), "l4s": each_way(described["l4s"]),
        "one_host": described["one_host"], "beside": described["beside"],
        "call_mbit": min(CALL_MBIT, CALL_SHARE * up_mbit),
        "warmup_s": matrix.times(rtt_ms)["warmup_s"], "seconds": described["seconds"],
    }


def expand(name, text):
    """The cells of one file."""
    described = tomllib.loads(text)
    unknown, missing = set(described) - REQUIRED - set(DEFAULTS), REQUIRED - set(described)
    if unknown or missing:
        raise matrix.CellError(f"home/cells/{name}.toml: unknown {sorted(unknown)}, missing "
                               f"{sorted(missing)}")
    described = DEFAULTS | described
    if described["l4s"] and described["one_host"]:
        raise matrix.CellError(f"home/cells/{name}.toml: routes choose DCTCP, so l4s needs hosts "
                               "of its own: no one_host")
    for line, rtt, cubic in itertools.product(described["lines_mbit"], described["rtt_ms"],
                                              described["cubic"]):
        yield Cell(f"{name}-{line[0]}-{line[1]}-{rtt}ms-{cubic}",
                   f"{described['title']}: {line[0]}/{line[1]} Mbit/s, RTT {rtt} ms, "
                   f"{cubic} + {cubic} Cubic",
                   situation(described, line, rtt, cubic), described["variants"],
                   described["seeds"])


def all_cells():
    return [cell for path in sorted(CELLS.glob("*.toml"))
            for cell in expand(path.stem, path.read_text(encoding="utf-8"))]
