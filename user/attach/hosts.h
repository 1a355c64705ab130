/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --per-host, of a qdisc that is attached. What it needs comes with it (place.h). */
#ifndef HOSTS_H
#define HOSTS_H

#include "interface/target.h"

/* Has it what it needs for hosts: 1, 0, or -errno, which is reported. Of a qdisc without hosts: 1.
 */
int hosts_work(const struct registration *reg, const struct target *target);

/* Mend that. */
bool hosts_repair(const struct registration *reg, const struct target *target,
		  const struct dualpi2_params *in_force);

/* It has room for `hosts`: may it have these parameters? If not, it is reported. */
bool hosts_may_change(const struct target *target, const struct aqm *aqm, __u32 hosts,
		      const struct dualpi2_params *wanted);

#endif /* HOSTS_H */
