/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface whose incoming traffic goes through an ifb, or is to, and whether that can be. */
#ifndef FEEDER_H
#define FEEDER_H

#include "interface/device.h"
#include "interface/request.h"

struct feeder {
	const char *ifname;
	struct dualpi2_key key; /* of the interface; parent 0 */
	uint16_t type;		/* ARPHRD_* of the interface */
	struct device ifb;
	const struct aqm *aqm; /* of the qdisc that the ifb has; NULL: it has none of ours */
	uint32_t handle;       /* of that qdisc */
};

/* Find an interface of this network namespace and its ifb. */
bool feeder_find(const char *ifname, struct feeder *feeder);

/* The key of the qdisc at the root of the ifb, and what that is of, if it is ours. */
struct dualpi2_key feeder_qdisc(const struct feeder *feeder);
const struct registration *feeder_registration(const struct registrations *regs,
					       const struct feeder *feeder);

/* The AQM that it is to have. */
const struct aqm *feeder_aqm(const struct feeder *feeder, const struct request *request);

/* The parameters in force on the ifb: 1; 0: it has no qdisc of ours; -errno, which is reported. */
int feeder_live(const struct registrations *regs, const struct feeder *feeder,
		struct dualpi2_params *in_force);

/* May what arrives be shaped as requested? */
bool feeder_allowed(const struct registrations *regs, const struct feeder *feeder,
		    const struct request *request);

/* Show (report.h) whether feeder_allowed(). */
bool feeder_check(const struct registrations *regs, const struct feeder *feeder,
		  const struct request *request);

#endif /* FEEDER_H */
