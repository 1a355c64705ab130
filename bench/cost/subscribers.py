# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a packet costs above noqueue where each subscriber has queues and a plan of his own, in
instructions. As hosts.py, with packets to so many subscribers."""

import dataclasses

from contenders import BASELINE, RATE, Contender
from guest import LOADER
from hosts import FIRST, HOSTS, cost
from senders import PACKETS
from subscriber_maps import BY_TARGET, Subscribers, one_subscriber

PLAN_MBIT = 1000
NAME = "bpf_dualpi2 with subscribers"


@dataclasses.dataclass(frozen=True)
class Subscribed(Contender):
    """With a plan for each of the first `count` addresses."""

    count: int = 0

    def attach_to(self, dev):
        super().attach_to(dev)
        subscribers = Subscribers(dev, max(HOSTS))
        for number in range(1, self.count + 1):
            subscribers.plan(number, PLAN_MBIT)
            subscribers.own(number, str(FIRST + number - 1))
        subscribers.close()


def measure():
    rows = []
    for count in HOSTS:
        noqueue = cost(BASELINE, count)
        contender = Subscribed(NAME, True,
                               (f"{LOADER} DEV --rate {RATE} {' '.join(BY_TARGET)} "
                                f"--subscribers {one_subscriber()}",), count=count)
        found = cost(contender, count)
        rows.append({"hosts": count, "qdisc": NAME,
                     **{packet: found[packet] - noqueue[packet] for packet in PACKETS}})
        print(rows[-1], flush=True)
    return {"rows": rows}
