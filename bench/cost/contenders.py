# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The qdiscs that are measured, and how each gets on a device.

Shaped means: at a rate that is too high to hold anything back. So the work of a shaper
is counted, and not its waiting.
"""

import contextlib
import dataclasses
import shlex
from pathlib import Path

from guest import LOADER, MODULES, add_device, delete_device, run

RATE = "10gbit"
LIMIT = 10000  # packets, as the others have by default; pfifo's would be 1000
CLASS = f"tc class add dev DEV parent 1: classid 1:1 htb rate {RATE}"
HTB = ("tc qdisc add dev DEV root handle 1: htb default 1", CLASS)
TBF = (f"tc qdisc add dev DEV root handle 1: tbf rate {RATE} burst 12500000 limit 100000000",)


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    shaped: bool
    attach: tuple  # command lines
    needs: str = ""  # a module that may be missing

    @property
    def is_missing(self):
        return bool(self.needs) and not (MODULES / f"{self.needs}.ko").exists()

    def attach_to(self, dev):
        for line in self.attach:
            run(*shlex.split(line.replace("DEV", dev)))


def alone(kind, name=None, **more):
    line = f"tc qdisc add dev DEV root {kind}"
    return Contender(name or kind.split()[0], False, (line,), **more)


def under(parent, lines, kind, **more):
    line = f"tc qdisc add dev DEV parent 1:1 {kind}"
    return Contender(f"{parent} + {more.pop('name', kind.split()[0])}", True, (*lines, line),
                     **more)


NATIVE = {"name": "sch_dualpi2", "needs": "sch_dualpi2"}
PFIFO = alone(f"pfifo limit {LIMIT}")
BASELINE = alone("noqueue")
PEERS = (
    PFIFO,
    alone("fq_codel"),
    alone("fq_pie"),
    alone("cake"),
    alone("dualpi2", **NATIVE),
    under("htb", HTB, f"pfifo limit {LIMIT}"),
    under("htb", HTB, "fq_codel"),
    under("htb", HTB, "fq_pie"),
    Contender("cake", True, (f"tc qdisc add dev DEV root cake bandwidth {RATE}",)),
    under("tbf", TBF, "dualpi2", **NATIVE),
    under("htb", HTB, "dualpi2", **NATIVE),
)
OURS = (
    Contender("bpf_dualpi2", False, (f"{LOADER} DEV",)),
    Contender("bpf_dualpi2", True, (f"{LOADER} DEV --rate {RATE}",)),
)
# What other AQMs cost in the place of PI2. They never act at this rate.
OTHER_AQMS = tuple(
    Contender(f"bpf_dualpi2, {aqm}", True, (f"{LOADER} DEV --aqm {aqm} --rate {RATE}",))
    for aqm in ("curvy-red", "codel", "vdq"))
# What it costs to look at flows.
JUDGES = tuple(
    Contender(f"bpf_dualpi2 {option}", True, (f"{LOADER} DEV --rate {RATE} {option}",))
    for option in ("--guard", "--sparse"))
# Our tcx programs look, find that another qdisc is behind them, and let the packet pass.
TCX_ALONE = Contender("pfifo behind the tcx programs", False,
                      (f"{LOADER} DEV", f"tc qdisc replace dev DEV root pfifo limit {LIMIT}"))


@contextlib.contextmanager
def attached(contender, dev, kind):
    """A fresh device with a qdisc; all of it goes afterwards."""
    add_device(dev, kind)
    contender.attach_to(dev)
    yield
    if str(LOADER) in contender.attach[0]:
        run(LOADER, dev, "--unload", check=False)
    delete_device(dev)


def live_instances(count):
    """So many of bpf_dualpi2 with the next one: the others have nothing to do."""
    for number in range(1, count):
        dev = f"idle{number}"
        if not Path("/sys/class/net", dev).exists():
            run("ip", "link", "add", dev, "type", "dummy")
            run(LOADER, dev)
