#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a Python module in C with all functions and structs of some headers, and of aqm.c: what a
compiler makes of their macros is what cffi declares.

    bindings.py OUTPUT.c COMPILER FLAGS...
"""

import re
import subprocess
import sys
from pathlib import Path

from cffi import FFI

HEADERS = """
#include <stdint.h>
#include "aqm/params.h"
#include "aqm/pi2.h"
#include "classic_ecn.h"
#include "cli/format.h"
#include "cli/message.h"
#include "cli/peer.h"
#include "cli/prefix.h"
#include "cli/value.h"
#include "codel.h"
#include "curvy_red.h"
#include "flow.h"
#include "hosts.h"
#include "laqm.h"
#include "vdq/packet_value.h"
#include "p99.h"
#include "plans.h"
#include "prague.h"
#include "prague_network.h"
#include "scheduler.h"
#include "share.h"
#include "split_gso.h"
#include "subscribers/changes.h"
#include "subscribers/file.h"
#include "subscribers/own.h"
#include "turns.h"

static inline struct dualpi2_params default_params(void)
{
    struct dualpi2_params params = DUALPI2_DEFAULT_PARAMS;

    *(struct aqm_params *)params.aqm = (struct aqm_params)AQM_DEFAULT_PARAMS;
    return params;
}

struct waiting_dualq {
    struct turns_dualq turns;
    struct plans_dualq own;
    struct plan plan;
    __u32 waiting;
};

struct parent_and_plan {
    struct plans_parent parent;
    struct plan plan;
};

struct many_dualqs {
    struct plans plans;
    __u64 now;
    __u32 count, parents;
    struct waiting_dualq *dualq;
    struct parent_and_plan *parent;
};

static inline struct turns_dualq *turns_dualq_at(struct turns *turns, __u32 number)
{
    struct many_dualqs *many = (struct many_dualqs *)turns;

    return number < many->count ? &many->dualq[number].turns : 0;
}

static inline __u32 turns_waiting(const struct turns_dualq *dualq)
{
    return ((const struct waiting_dualq *)dualq)->waiting;
}

static inline struct plans_dualq *plans_of_dualq(struct turns_dualq *dualq)
{
    return &((struct waiting_dualq *)dualq)->own;
}

static inline struct plans_parent *plans_parent_at(struct plans *plans, __u32 number)
{
    struct many_dualqs *many = (struct many_dualqs *)plans;

    number -= PLANS_PARENTS + 1;
    return number < many->parents ? &many->parent[number].parent : 0;
}

static inline const struct plan *plans_plan_at(const struct plans *plans, __u32 number)
{
    const struct many_dualqs *many = (const struct many_dualqs *)plans;

    if (number >= PLANS_PARENTS)
        return &many->parent[number - PLANS_PARENTS - 1].plan;
    return &many->dualq[number].plan;
}

static inline __s32 turns_quantum(const struct turns *turns, const struct turns_dualq *dualq)
{
    return plans_quantum(turns, plans_of_dualq((struct turns_dualq *)dualq));
}

static inline bool turns_holds(struct turns *turns, enum turns_which which,
                               struct turns_dualq *dualq, __u32 number, __u32 waiting)
{
    struct many_dualqs *many = (struct many_dualqs *)turns;

    return plans_holds(&many->plans, which, dualq, number, waiting, many->now);
}

static inline bool plans_call_is_due(struct plans *plans, __u32 number, __u64 now)
{
    return plans_parent_is_due(plans, number, now);
}

static inline void plans_call_bring_back(struct plans *plans, __u64 now)
{
    plans_bring_back(plans, now);
}

static inline __u32 plans_call_step(struct plans *plans)
{
    struct turns_dualq *first;

    return turns_step(&plans->turns, &first);
}
"""
# As linux/types.h has them.
TYPES = """
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
"""
# Of the macros, those that tests name.
CONSTANTS = (
    "CODEL_LAST", "CODEL_MARKS", "DUALPI2_LIMIT_MAX", "DUALPI2_MPU_MAX", "DUALPI2_OVERHEAD_MAX",
    "DUALPI2_OVERHEAD_MIN", "DUALPI2_RATE_MAX", "DUALPI2_RATE_MIN", "DUALPI2_TIME_MAX",
    "FORMAT_MAX", "HISTOGRAM_BUCKETS", "HOSTS_HOME", "HOSTS_NONE", "HOSTS_WAYS", "OPTION_TEXT_MAX",
    "PARAMS_MAX", "PARAMS_WHY_MAX", "PEER_HOST_MAX", "PLANS_LOOK_NS", "PLANS_NEVER",
    "PLANS_PARENTS", "PLANS_QUANTUM_MIN", "PLANS_SLOTS", "PLANS_SLOT_SHIFT", "PLANS_STEPS",
    "PREFIX_TEXT_MAX", "SHAPER_LOOK_NS", "SHAPER_SLACK_NS", "SHARE_AHEAD_MAX", "SHARE_FIRST",
    "SHARE_FRACTION", "SHARE_PACES", "SHARE_PACKET", "SHARE_SLACK_NS", "SHARE_SLOT_SHIFT",
    "SHARE_UNDER_WAY_MAX", "STEP_IN_PACKETS", "SUBSCRIBERS_MAX", "SUBSCRIBERS_SIZE_MAX",
    "SUBSCRIBER_PREFIXES_MAX", "TURNS_AHEAD_FRAMES", "TURNS_APART", "TURNS_C", "TURNS_FRAME_MAX",
    "TURNS_L", "TURNS_NOBODY", "TURNS_UNKNOWN", "VDQ_RING_MAX", "VDQ_VALUE_MAX",
)
# As we write them; the C library's own headers have a blank or the end of a line before ( and {.
PROTOTYPE = r"\w[\w *]+\w\((?:[^()[]|\[[^]]*\])*\)"
TYPEDEF = re.compile(rf"^(typedef {PROTOTYPE});", re.M)  # of a function
STRUCT = re.compile(r"^(?:struct|enum) \w+ \{[^{}]*\}", re.M)
INLINE = r"static (?:inline|__inline __attribute__ \(\(__always_inline__\)\)) "
FUNCTION = re.compile(rf"^(?!typedef |_Static_assert)(?:{INLINE})?({PROTOTYPE})\s*[{{;]", re.M)


def declared(pattern, text):
    """Once, also what is declared before it is defined, with its lines broken elsewhere."""
    found = (" ".join(each.split()) for each in pattern.findall(text))
    return "".join(f"{each};\n" for each in dict.fromkeys(found))


def main(output, *compiler):
    headers = subprocess.run([*compiler, "-E", "-P", "-xc", "-"], input=HEADERS, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    decisions = declared(FUNCTION, Path(__file__).with_name("aqm.c").read_text(encoding="utf-8"))
    ffi = FFI()
    ffi.cdef(TYPES + declared(TYPEDEF, headers) + declared(STRUCT, headers)
             + declared(FUNCTION, headers) + decisions
             + "".join(f"#define {name} ...\n" for name in CONSTANTS))
    ffi.set_source("_clib", HEADERS + decisions)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
