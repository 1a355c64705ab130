/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is requested for an interface, as the options say it, and the rules that hold for them
 * wherever it is attached.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "aqm/params.h"
#include "kernel/direction.h"
#include "subscribers/list.h"

/* For one direction. */
struct request {
	const struct option_given *params; /* of params_all() */
	const struct aqm *aqm;		   /* NULL: that of what is attached, or the default */
	__u32 handle;			   /* of the qdisc at the root; 0: any */
	bool mq;
	bool replace;
	bool whole;			     /* parameters that are not given get their defaults */
	const struct dualpi2_params *former; /* to be put back as they were; NULL: what is given */
	/* that it is to have; NULL: those that it has. They get their numbers when it has them. */
	struct subscribers *subscribers;
};

/* For both. */
struct requests {
	struct request of[N_DIRECTIONS];
	bool has[N_DIRECTIONS]; /* is anything requested for it? */
	bool whole;		/* a direction for which nothing is requested is taken away */
};

/* Do its options agree with each other, and with the direction? If not, it is reported why. */
bool request_agrees(const struct request *request, enum direction direction);

/* Why none is refused with --ingress, also with what is there already (feeder.h). */
#define WITHOUT_RATE "without a rate nothing waits there"

/* Is a rate requested, other than 0 (not shaped)? */
bool request_has_rate(const struct request *request);

/* Put the parameters that are requested into `params`. */
bool request_apply(const struct request *request, const struct aqm *aqm,
		   struct dualpi2_params *params);

/* Parameters that are in force as another AQM takes them over: its own are its defaults. */
void request_take_over(const struct aqm *aqm, struct dualpi2_params *params);

/* Show (report.h) what may not be meant: the requested ones as they were given, and what the AQM
 * doubts of all that will be in force.
 */
void request_report(const struct request *request, const struct aqm *aqm,
		    const struct dualpi2_params *params);

/* Of a place that has, if anything of ours, qdiscs of `now`, below an mq (`is_mq`) or not. */

/* Will the queues of an mq share a rate? Those that do stay so without one (--rate 0). */
bool request_will_share(const struct request *request, const struct aqm *now, bool is_mq);

/* The AQM that it is to have. */
const struct aqm *request_aqm(const struct request *request, const struct aqm *now, bool is_mq);

/* If queues are to share a rate, or hosts or subscribers are to have a DualQ each, can they with
 * this AQM and these options? If not, the obstacle is reported (report_obstacle()).
 */
bool request_has_variant(const struct request *request, const struct aqm *now, bool is_mq,
			 const char *label);

/* Can parameters be in force with this variant of an AQM? Where the queues of an mq share a rate it
 * drops packets as they arrive. If not, it is reported.
 */
bool request_suits(const struct request *request, const struct aqm *aqm,
		   struct dualpi2_params *params);

/* Could they be put into the defaults of an AQM (NULL: of any)? */
bool request_fits(const struct request *request, const struct aqm *aqm);

#endif /* REQUEST_H */
