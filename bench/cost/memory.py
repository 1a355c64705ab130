# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the kernel's allocator holds for each queued packet, above pfifo with the same packets."""

from itertools import pairwise
from pathlib import Path

from contenders import OURS, PFIFO, attached, live_instances
from guest import GATE, be_quiet, has_native
from packets import Gate, waiting
from senders import pktgen

BACKLOGS = (0, 1000, 10000)
INSTANCES = 8


def in_use():
    """{cache: bytes of its objects in use} (slabinfo(5))."""
    lines = Path("/proc/slabinfo").read_text().splitlines()[2:]
    return {name: int(active) * int(size)
            for name, active, _, size, *_ in map(str.split, lines)}


def growth(before, after):
    return {name: after[name] - before.get(name, 0) for name in after}


def held(contender):
    """{cache: bytes} in use at each of BACKLOGS."""
    with attached(contender, GATE, "gate"):
        gate = Gate()
        found = []
        for before, backlog in pairwise((0, *BACKLOGS)):
            if backlog > before:
                pktgen(GATE, "C", backlog - before)
            be_quiet()
            assert waiting() == backlog
            found.append(in_use())
        gate.let(-1)
        gate.close()
    return found


def measure():
    """Bytes a packet, from one backlog to the next; None without the gate. The first nodes
    come from what the kernel's BPF allocator keeps in stock, so only the last step shows the
    size."""
    if not has_native():
        return None
    held(PFIFO)  # now the caches for the packets themselves are as large as they get
    pfifo, ours = held(PFIFO), held(OURS[0])
    steps = []
    for number, (lower, upper) in enumerate(pairwise(BACKLOGS)):
        above = {name: more - growth(*pfifo[number:number + 2])[name]
                 for name, more in growth(*ours[number:number + 2]).items()}
        steps.append({"from": lower, "to": upper,
                      "bytes a packet": sum(above.values()) / (upper - lower),
                      "caches": {name: more for name, more in above.items() if more}})
    return {"steps": steps, "node cache": node_cache(steps[-1]["caches"])}


def node_cache(caches):
    """How the cache that grows with the backlog grows with instances that never queued."""
    name = max(caches, key=caches.get)
    before = in_use()[name]
    live_instances(INSTANCES)
    be_quiet()
    return {"name": name, "instances": INSTANCES - 1,
            "bytes an instance": (in_use()[name] - before) / (INSTANCES - 1)}
