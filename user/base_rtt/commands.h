/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of tcp-base-rtt. `cgroup`: the path of a control group; NULL: that with all
 * processes.
 */
#ifndef BASE_RTT_COMMANDS_H
#define BASE_RTT_COMMANDS_H

#include <linux/types.h>
#include <stdbool.h>

struct ip_prefix;

/* Tell the sockets of a control group the base RTT of the peers in a prefix. */
bool base_rtt_add(const char *cgroup, const struct ip_prefix *prefix, __u32 rtt_us);

bool base_rtt_delete(const char *cgroup, const struct ip_prefix *prefix);

/* Of all control groups, or of one. */
bool base_rtt_list(const char *cgroup, bool as_json);

/* End it for all, or for one. `if_any`: that there is nothing to end is no failure. */
bool base_rtt_off(const char *cgroup, bool if_any);

/* `peer`: "HOST" or "HOST:PORT". */
bool base_rtt_measure(const char *peer);

#endif /* BASE_RTT_COMMANDS_H */
