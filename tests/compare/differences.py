# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where bpf_dualpi2 is meant to differ from sch_dualpi2, and why; docs/design.md has more.

A test that sees a difference names one of these; whatever else differs is an error.
"""

DIFFERENCES = {
    "marks at enqueue":
        "bpf_dualpi2 marks a packet when it arrives (a BPF qdisc cannot write to packets, the tcx "
        "program before it can), sch_dualpi2 when it leaves. By then the queue looks different: "
        "as many packets of a burst are marked, but the last ones instead of the first.",
    "lone packet":
        "A step in time leaves a packet alone that finds no more than one in the L queue (Th_len "
        "of RFC 9332, A.2).",
    "ecn-mark in overload":
        "Packets are marked on arrival and dropped on departure, so ecn-mark also counts marked "
        "packets that were dropped later.",
    "CE":
        "A packet that is CE already counts as marked in sch_dualpi2 only.",
    "Classic in L":
        "RFC 9332, 2.5.1.1: a Classic packet in L is marked or dropped with the Classic "
        "probability (p_L / k)^2. sch_dualpi2 uses p_L, as for L4S.",
    "three tags":
        "bpf_dualpi2 looks behind two VLAN tags, sch_dualpi2 behind eight.",
    "filters":
        "Filters of clsact come behind all tcx programs, so behind the one that chooses the queue "
        "of bpf_dualpi2 and marks. nftables or a tcx program comes before it.",
    "version":
        "bpf_dualpi2 takes for IP only what has the EtherType and the version number.",
    "maxq":
        "sch_dualpi2 counts the packets ahead of an arriving one, bpf_dualpi2 that one as well.",
    "pkts-in":
        "bpf_dualpi2 counts arrivals (RFC 9332, 2.5.2.2), sch_dualpi2 those that get in.",
    "gains":
        "Both keep gains cut down to 2^-32 per 64 ns; sch_dualpi2 shows what is left of them, "
        "bpf_dualpi2 what was set.",
    "trim":
        "sch_dualpi2 throws away at once what a lower limit has no room for, bpf_dualpi2 when the "
        "device next asks for a packet: a BPF program for the tools cannot take the qdisc's lock.",
    "tupdate":
        "A new tupdate counts from now on in bpf_dualpi2, from the next update on in sch_dualpi2.",
    "recovery":
        "After overload, while the delay is below half the target, p' of bpf_dualpi2 also shrinks "
        "by 1/32 in each update, as PIE's does (RFC 8033, 4.2).",
    "link down":
        "When the link goes down sch_dualpi2 clears its counters and loses the packets uncounted; "
        "bpf_dualpi2 keeps its counters and counts what it throws away as dropped.",
}
