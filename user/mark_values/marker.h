/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that marks what an interface sends with values: a tcx program before all others. Its
 * link is pinned, by the link's number, which does not come again, and so are the maps that stay
 * when the program is replaced.
 */
#ifndef MARKER_H
#define MARKER_H

#include "mark_values/policy.h"

#define MARK_VALUES_PIN_DIR "/sys/fs/bpf/dualpi2-mark-values"

/* Attach it, or change what is attached: no packet sees some of both. `rate_memory_ns`: how long a
 * change of a flow's rate takes to be seen, up to VALUE_MEMORY_MAX_NS.
 */
bool marker_attach(const char *ifname, const struct policies *policies, __u64 rate_memory_ns);

/* Detach it. */
bool marker_detach(const char *ifname);

/* Print what it has done. */
bool marker_show(const char *ifname, bool as_json);

#endif /* MARKER_H */
