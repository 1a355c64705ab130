# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cells of the bench, from the files in cells/, and the runs that they ask for.

A file describes one cell, or several that differ in rate, RTT and the number of flows: where
`rate_mbit` or `rtt_ms` is a list, or there are `mixes`, each value is a cell of its own and becomes
part of its name.
"""

import dataclasses
import itertools
import tomllib
from pathlib import Path

CELLS = Path(__file__).resolve().parent / "cells"
# In the order of the report. What is compared most closely is done twice: the two runs
# differ by some milliseconds in the start of the flows, and show what chance does.
SEEDS = {"bpf_dualpi2": 2, "htb+dualpi2": 2, "curvy-red": 1, "codel": 1, "htb+fq_codel": 1,
         "cake": 1, "htb+fq_pie": 1, "htb+pfifo": 1, "htb+codel": 1, "htb+pie": 1, "htb+red": 1,
         "vdq": 1, "htb+own": 1, "bpf_dualpi2_mq": 2}
# Of these the ones with a single queue, a research AQM, a qdisc of the reader's own, and the one
# that needs several transmit queues, only in cells that name them.
ONLY_NAMED = ("bpf_dualpi2_mq", "htb+codel", "htb+pie", "htb+red", "vdq", "htb+own")
DEFAULTS = {
    "at_sender": False,  # the queue is on the senders' own host, not on the router
    "offload": False,  # GSO and TSO on the links
    "in_report": True,
    "slot_us": 0,      # acknowledgements arrive together, so far apart at least
    "tx_queues": 1,    # of the router's port to the receiver
    "short": False,    # part of the short matrix; of several cells those with these names
    "variants": [{"contender": contender} for contender in SEEDS if contender not in ONLY_NAMED],
}
# `seeds`: in place of SEEDS. `warmup_s`, `seconds`: what is not measured, and what is, for
# each rate; if they are not given, they follow from the RTT. `mixes`: how many of each of `flows`
# there are, a list for each cell; `mix_titles`: what each is in words.
STEPS_MAX = 60  # of MATCH_PHASES (guest/match.h) four are before and after them
HOSTS = range(1, 255)  # the last byte of an address; prague needs networks of its own
KEYS = {"title", "rate_mbit", "steps_mbit", "rtt_ms", "flows", "mixes", "mix_titles", "seeds",
        "warmup_s", "seconds", *DEFAULTS}


class CellError(Exception):
    """A file in cells/ does not say what a cell needs."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One guest: a variant of a cell, and a seed."""

    cell: str
    variant: str
    contender: str
    seed: int
    specification: dict  # what guest/cell.py gets

    @property
    def name(self):
        return self.cell, self.variant, self.seed

    def cost(self):
        """About how long it takes, in seconds on one CPU: booting, and the packets."""
        spec = self.specification
        lasts = spec["warmup_s"] + spec["seconds"] * len(spec["rates_mbit"])
        return 12 + lasts * (0.2 + 0.035 * max(spec["rates_mbit"]))


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    name: str
    title: str
    description: dict

    def runs(self):
        for variant in self.description["variants"]:
            contender = variant["contender"]
            seeds = self.description.get("seeds", SEEDS[contender])
            for seed in range(variant.get("seeds", seeds)):
                yield Run(self.name, variant.get("name", contender), contender, seed, {
                    "contender": contender,
                    "options": variant.get("options", []),
                    "sender_gso": variant.get("sender_gso", "on"),
                    "tcp": variant.get("tcp", "cubic"),
                    "base_rtt_us": variant.get("base_rtt_us", 0),
                    "seed": seed,
                    **{key: self.description[key] for key in
                       ("rates_mbit", "rtt_ms", "flows", "seconds", "warmup_s", "offload",
                        "at_sender", "slot_us", "tx_queues")},
                })

    def is_short(self):
        short = self.description["short"]
        return short is True or isinstance(short, list) and self.name in short


def as_list(value):
    return value if isinstance(value, list) else [value]


def times(rtt_ms):
    """Flows need round trips to settle, and as many again to be judged by."""
    return {"warmup_s": 3 + rtt_ms / 10, "seconds": 10 + rtt_ms / 10}


def mixed(flows, mix):
    """So many of each."""
    return [flow | {"count": count} for flow, count in zip(flows, mix, strict=True) if count]


def at_rate(flows, rate_mbit):
    """`of_link`: part of the link's rate that a flow sends."""
    return [{key: value for key, value in flow.items() if key != "of_link"} |
            {"rate_mbit": flow["of_link"] * rate_mbit} if "of_link" in flow else flow
            for flow in flows]


def expand(name, text):
    """The cells of one file."""
    described = tomllib.loads(text)
    unknown = set(described) - KEYS
    missing = {"title", "rtt_ms", "flows"} - set(described)
    if unknown or missing or ("rate_mbit" in described) == ("steps_mbit" in described):
        raise CellError(f"cells/{name}.toml: unknown {sorted(unknown)}, missing "
                        f"{sorted(missing)}, or not one of rate_mbit and steps_mbit")
    described = DEFAULTS | described
    steps = described.pop("steps_mbit", None)
    if steps and len(steps) > STEPS_MAX:
        raise CellError(f"cells/{name}.toml: {len(steps)} steps_mbit, {STEPS_MAX} at most")
    rates = [steps] if steps else [[rate] for rate in as_list(described.pop("rate_mbit"))]
    rtts = as_list(described["rtt_ms"])
    mixes = described.pop("mixes", [None])
    if any(mix and len(mix) != len(described["flows"]) for mix in mixes):
        raise CellError(f"cells/{name}.toml: of each mix one number for each of flows")
    if any(queue not in range(described["tx_queues"]) for flow in described["flows"]
           for queue in flow.get("queues", [])):
        raise CellError(f"cells/{name}.toml: `queues` are below tx_queues")
    if described["tx_queues"] > 1 and not all("queues" in flow for flow in described["flows"]):
        raise CellError(f"cells/{name}.toml: with tx_queues each flow needs `queues`")
    if any("host" in flow and (flow["host"] not in HOSTS or flow["kind"] == "prague")
           for flow in described["flows"]):
        raise CellError(f"cells/{name}.toml: `host` is from {HOSTS[0]} to {HOSTS[-1]}, and flows "
                        "of `prague` have none")
    titles = described.pop("mix_titles", [None] * len(mixes))
    if len(titles) != len(mixes):
        raise CellError(f"cells/{name}.toml: of mix_titles one for each of mixes")
    for rate, rtt, (mix, title) in itertools.product(rates, rtts, zip(mixes, titles, strict=True)):
        parts = [name]
        flows = described["flows"]
        if mix:
            parts.append("x".join(map(str, mix)))
            flows = mixed(flows, mix)
        if len(rates) > 1:
            parts.append(f"{rate[0]}")
        if len(rtts) > 1:
            parts.append(f"{rtt}ms")
        yield Cell("-".join(parts), f"{described['title']}{': ' + title if title else ''}",
                   times(rtt) | described | {"rates_mbit": rate, "rtt_ms": rtt,
                                              "flows": at_rate(flows, rate[0])})


def all_cells():
    return [cell for path in sorted(CELLS.glob("*.toml"))
            for cell in expand(path.stem, path.read_text(encoding="utf-8"))]


def named(cells, name):
    """The cell of that name, or all that its file describes."""
    return [cell for cell in cells if cell.name == name or cell.name.startswith(f"{name}-")]
