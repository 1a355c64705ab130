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
	uint32_t queues;       /* that an ifb has where they share the rate */
	const struct aqm *aqm; /* of what the ifb has; NULL: it has no qdisc of ours */
	bool is_mq;	       /* they are below an mq */
	uint32_t parent;       /* of the first of them */
	uint32_t handle;       /* of the root */
};

/* Find an interface of this network namespace and its ifb. */
bool feeder_find(const char *ifname, struct feeder *feeder);

/* The key of what is at the root of the ifb, and what its qdiscs are of, if they are ours. */
struct dualpi2_key feeder_root(const struct feeder *feeder);
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
