# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a packet costs above noqueue where the queues of a device share a rate, in instructions.

As the empty queue of packets.py, but the device has several transmit queues, and packets that came
on a receive queue of their own, as forwarded ones do, take them in turn.
"""

from contenders import BASELINE, HTB, RATE, Contender
from guest import LOADER
from packets import empty
from pyroute2 import IPRoute
from pyroute2.netlink.rtnl.tcmsg import plugins, sched_cake
from senders import PACKETS

QUEUES = 4
CAKE_MQ = "cake_mq"  # the kernel's name and options; trixie's tc does not know it
DEVICE = f"dummy numtxqueues {QUEUES}"
IN_TURN = ("queue_map_min 1", f"queue_map_max {QUEUES}")  # 1: the first one


class CakeMq(Contender):
    def attach_to(self, dev):
        plugins[CAKE_MQ] = sched_cake
        with IPRoute() as ipr:
            [index] = ipr.link_lookup(ifname=dev)
            ipr.tc("add", CAKE_MQ, index=index, handle="1:", bandwidth=RATE)


def htb_below_mq():
    """Each queue has the whole rate: there is no other way to share it."""
    yield "tc qdisc add dev DEV root handle 100: mq"
    for queue in range(1, QUEUES + 1):
        yield f"tc qdisc add dev DEV parent 100:{queue} handle {queue}: htb default 1"
        yield f"tc class add dev DEV parent {queue}: classid {queue}:1 htb rate {RATE}"
        yield f"tc qdisc add dev DEV parent {queue}:1 fq_codel"


CONTENDERS = (
    Contender("htb + fq_codel at the root", True,
              (*HTB, "tc qdisc add dev DEV parent 1:1 fq_codel")),
    Contender("htb + fq_codel in each queue", True, tuple(htb_below_mq())),
    CakeMq(CAKE_MQ, True, ("",)),
    Contender("bpf_dualpi2 at the root", True, (f"{LOADER} DEV --rate {RATE}",)),
    Contender("bpf_dualpi2 --mq", True, (f"{LOADER} DEV --mq --rate {RATE}",)),
)


def cost(contender):
    return empty(contender, DEVICE, IN_TURN)


def measure():
    noqueue = cost(BASELINE)
    rows = []
    for contender in CONTENDERS:
        found = cost(contender)
        rows.append({"qdisc": contender.name,
                     **{packet: found[packet] - noqueue[packet] for packet in PACKETS}})
        print(rows[-1], flush=True)
    return {"queues": QUEUES, "rows": rows}
