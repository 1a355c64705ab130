# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a packet costs above noqueue where each subscriber has queues and a plan of his own, in
instructions. As hosts.py, with packets to so many subscribers."""

import os
import sys
from contenders import BASELINE, RATE, Contender
from guest import LOADER, SINK
from hosts import FIRST, HOSTS, cost
from senders import PACKETS
os.environ["DUALPI2_SUBSCRIBERS"] = "1"
from subscribers import Subscribers

PLAN_MBIT = 1000


class Subscribed(Contender):
    count = 1

    def attach_to(self, dev):
        super().attach_to(dev)
        subscribers = Subscribers(dev, 16384)
        for number in range(1, self.count + 1):
            subscribers.plan(number, PLAN_MBIT)
            subscribers.own(number, str(FIRST + number - 1))
        subscribers.close()


def measure():
    rows = []
    for hosts in HOSTS:
        noqueue = cost(BASELINE, hosts)
        Subscribed.count = hosts
        contender = Subscribed("bpf_dualpi2 --subscribers", True,
                               (f"{LOADER} DEV --rate {RATE} --per-host dst",))
        found = cost(contender, hosts)
        rows.append({"hosts": hosts, "qdisc": contender.name,
                     **{packet: found[packet] - noqueue[packet] for packet in PACKETS}})
        print(rows[-1], flush=True)
    return {"rows": rows}
