/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PI2 (RFC 9332, Appendix A), as all that is not its own code sees it. */
#ifndef DUALPI2_AQM_PI2_H
#define DUALPI2_AQM_PI2_H

#include "dualpi2.h"
#include "../pi2.h"

#define AQM_NAME "pi2"
#define AQM_KIND "bpf_dualpi2" /* `dualpi2` would collide with the kernel's sch_dualpi2 */
#define AQM_SHARED_KIND "bpf_dualpi2_mq"
#define AQM_HOSTS_KIND "bpf_dualpi2_h"
#define AQM_SUBSCRIBERS_KIND "bpf_dualpi2_s"
#define AQM_ABOUT "PI2 of RFC 9332, Appendix A"

/* target_ns: delay that the law holds the Classic queue at, ns. tupdate_ns: time between updates
 * of p', ns. alpha, beta: integral and proportional gain, 1/256 Hz. Defaults: RFC 9332, A.1.
 */
#define AQM_PARAMS(PARAM, CHOICE, FLAG)                                                          \
	PARAM(__u64, target_ns, "target", TIME, 0, DUALPI2_TIME_MAX, 15 * DUALPI2_NSEC_PER_MSEC, \
	      "target", "delay at which the Classic queue is held")                              \
	PARAM(__u64, tupdate_ns, "tupdate", TIME, DUALPI2_NSEC_PER_USEC, DUALPI2_TIME_MAX,       \
	      16 * DUALPI2_NSEC_PER_MSEC, "tupdate",                                             \
	      "interval between updates of the probability")                                     \
	PARAM(__u32, alpha, "alpha", GAIN, 1, PI2_GAIN_MAX, 41, "alpha",                         \
	      "integral gain, in steps of 1/256 Hz")                                             \
	PARAM(__u32, beta, "beta", GAIN, 1, PI2_GAIN_MAX, 819, "beta",                           \
	      "proportional gain, in steps of 1/256 Hz")

/* Options that set them all: DERIVED(option, kind, min, max, help), and the function of
 * user/aqm/ that does it (aqm_derive of user/aqm/aqm.h). What they would change is not given
 * beside them.
 */
#define AQM_DERIVED(DERIVED)                                                                     \
	DERIVED("max-rtt", TIME, DUALPI2_NSEC_PER_USEC, DUALPI2_TIME_MAX,                        \
		"highest RTT of the traffic (6 * typical RTT); sets target, tupdate, alpha and " \
		"beta")                                                                          \
	DERIVED("typical-rtt", TIME, DUALPI2_NSEC_PER_USEC, DUALPI2_TIME_MAX,                    \
		"usual RTT of the traffic (max RTT / 6); sets the same")
#define AQM_DERIVE pi2_derive

/* Those of them that OpenMetrics has: rows as those of AQM_GAUGES. */
#define AQM_PARAM_METRICS(GAUGE)                                              \
	GAUGE(__u64, target_ns, "microseconds", NULL, "target_delay_seconds", \
	      "of target delay of the PI controller")

/* Time between two updates, ns: how often statistics are published while packets flow. */
#define AQM_PERIOD(own) ((own)->tupdate_ns)

/* delay_ns: age of the older of both queue heads at the last update, ns. */
#define AQM_GAUGES(GAUGE, COUNTER)                                                   \
	GAUGE(__u64, delay_ns, "microseconds", "queue-delay", "queue_delay_seconds", \
	      "that the older head of both queues had waited at the last update")

#include "aqm.h"

#endif /* DUALPI2_AQM_PI2_H */
