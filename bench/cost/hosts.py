# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a packet costs above noqueue where each host has queues of its own, in instructions.

As the empty queue of packets.py, with packets to so many hosts, one after the other.
"""

import ipaddress

from contenders import BASELINE, RATE, Contender
from guest import LOADER
from packets import COUNT, empty
from senders import PACKETS

HOSTS = (1, 1000, 10000)
FIRST = ipaddress.IPv4Address("10.64.0.1")
CONTENDERS = (
    Contender("cake dual-dsthost", True,
              (f"tc qdisc add dev DEV root cake bandwidth {RATE} dual-dsthost",)),
    Contender("cake flowblind", True,
              (f"tc qdisc add dev DEV root cake bandwidth {RATE} flowblind",)),
    Contender("bpf_dualpi2", True, (f"{LOADER} DEV --rate {RATE}",)),
    Contender("bpf_dualpi2 --per-host dst", True,
              (f"{LOADER} DEV --rate {RATE} --per-host dst --hosts 32768",)),
)


def cost(contender, hosts):
    return empty(contender, more=(f"dst_min {FIRST}", f"dst_max {FIRST + hosts - 1}"),
                 before=max(COUNT // 10, hosts))


def measure():
    rows = []
    for hosts in HOSTS:
        noqueue = cost(BASELINE, hosts)
        for contender in CONTENDERS:
            found = cost(contender, hosts)
            rows.append({"hosts": hosts, "qdisc": contender.name,
                         **{packet: found[packet] - noqueue[packet] for packet in PACKETS}})
            print(rows[-1], flush=True)
    return {"rows": rows}
