# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the kernel's allocator holds for each queued packet, above pfifo with the same packets."""

from itertools import pairwise
from pathlib import Path

from contenders import OURS, PFIFO, attached, live_instances
from guest import GATE, add_device, be_quiet, delete_device, has_native, run
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
    """Bytes a packet, from one backlog to the next; None without the gate. The first blocks
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
    return {"steps": steps, "block cache": block_cache(steps[-1]["caches"])}


def with_qdisc(kind, name):
    """What a cache grows by when so many devices get a qdisc and no packet, bytes."""
    devices = [f"quiet{number}" for number in range(INSTANCES)]
    for device in devices:
        add_device(device, "dummy")
    be_quiet()
    before = in_use()[name]
    for device in devices:
        run("tc", "qdisc", "replace", "dev", device, "root", kind)
    be_quiet()
    after = in_use()[name]
    for device in devices:
        delete_device(device)
    return after - before


def block_cache(caches):
    """How the cache that grows with the backlog grows with instances that never queued, above
    pfifo: that cache has other users, too."""
    name = max(caches, key=caches.get)
    live_instances(2)  # so that the kind stays registered
    pfifo, ours = with_qdisc("pfifo", name), with_qdisc("bpf_dualpi2", name)
    return {"name": name, "instances": INSTANCES, "bytes an instance": (ours - pfifo) / INSTANCES}
