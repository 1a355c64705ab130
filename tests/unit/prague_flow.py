# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A flow by the functions of include/prague.h, on a path that marks with a fixed likelihood."""

import random
from collections import deque
from ctypes import byref

import prague_model as model
from clib import C, Prague

PACKET = 2**20  # in the unit of windows


def flow(window=40, **members):
    """`window`: packets."""
    return Prague(window=int(window * PACKET), **members)


def mean_rate(p, rtt, begin, acks, mtu=1500):
    """Bytes/s of a flow whose packets leave as it paces them and are marked with likelihood `p`,
    over the last 9 of 10 ACKs. It begins with the rate `begin`."""
    chance = random.Random(f"{p} {rtt}")
    prague = flow(begin * rtt / model.SECOND / mtu, rounds=4)
    state, minimum = byref(prague), C.shim_prague_window_min(rtt, mtu)
    sent_us, on_their_way, delivered_ce, began_us = 0.0, deque(), 0, 0
    for delivered in range(1, acks + 1):
        while not on_their_way or sent_us <= on_their_way[0]:
            on_their_way.append(sent_us + rtt)
            sent_us += mtu * model.SECOND / C.shim_prague_pacing(state, 0, mtu, rtt, int(sent_us),
                                                                 False)
        now_us = int(on_their_way.popleft())
        if now_us - prague.round_us >= C.shim_prague_virtual_rtt(state, rtt):
            C.shim_prague_round(state, now_us, delivered, delivered_ce, False)
        if chance.random() < p:
            delivered_ce += 1
            C.shim_prague_ce(state, 1, now_us, rtt, minimum)
        else:
            C.shim_prague_increase(state, 1, C.shim_prague_gain(state, rtt), mtu)
        if delivered == acks // 10:
            began_us = now_us
    return acks * 9 // 10 * mtu * model.SECOND / (now_us - began_us)
