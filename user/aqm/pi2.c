// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* PI2's options --max-rtt and --typical-rtt: they choose all of its parameters. */
#include "aqm/pi2.h"

#include <sys/param.h>

#include "aqm/params.h"

/* typical-rtt where only max-rtt is given, and the other way round, as tc has it */
#define RTT_TYPICAL_TO_MAX 6

#define GAIN_STEPS 256 /* in 1 Hz */

/* In the order of AQM_DERIVED. */
enum { MAX_RTT, TYPICAL_RTT };

/* In whole microseconds, as tc has them. */
struct rtts {
	uint64_t max;
	uint64_t typical;
};

/* The RTTs of which at least one was given. */
static struct rtts read_rtts(const struct aqm_derived derived[])
{
	struct rtts rtts = {
		.max = derived[MAX_RTT].value / DUALPI2_NSEC_PER_USEC,
		.typical = derived[TYPICAL_RTT].value / DUALPI2_NSEC_PER_USEC,
	};

	if (!derived[MAX_RTT].given)
		rtts.max = rtts.typical * RTT_TYPICAL_TO_MAX;
	if (!derived[TYPICAL_RTT].given)
		rtts.typical = MAX(rtts.max / RTT_TYPICAL_TO_MAX, 1);
	return rtts;
}

extern aqm_derive pi2_derive;

/* Target, tupdate and gains for these RTTs (RFC 9332, A.1). In tc's own arithmetic, double
 * with constants of type float, so that each gain comes out the same to its last bit.
 */
bool pi2_derive(struct aqm_derived derived[], void *own, char *why)
{
	const struct aqm_derived *const max = &derived[MAX_RTT];
	const struct aqm_derived *const typical = &derived[TYPICAL_RTT];
	const struct aqm_derived *const one = max->given ? max : typical;
	const struct rtts rtts = read_rtts(derived);
	const uint64_t tupdate = MAX(MIN(rtts.typical, rtts.max / 3), 1);
	const double us_per_s = 1000000;
	const double alpha = (double)tupdate / (double)rtts.max / (double)rtts.max * us_per_s *
			     0.1f * GAIN_STEPS;
	const double beta = 0.3f / (double)rtts.max * us_per_s * GAIN_STEPS;

	if (rtts.typical > rtts.max)
		return params_refuse(why, "--typical-rtt %s: above --max-rtt %s", typical->given,
				     max->given);
	if (alpha < 1)
		return params_refuse(why,
				     "--%s %s: too high: alpha would be below 1/256 Hz, its lowest",
				     one->spec->name, one->given);
	if (beta > PI2_GAIN_MAX)
		return params_refuse(
			why, "--%s %s: too low: beta would be above 32767.996094 Hz, its highest",
			one->spec->name, one->given);
	derived[MAX_RTT].value = rtts.max * DUALPI2_NSEC_PER_USEC;
	derived[TYPICAL_RTT].value = rtts.typical * DUALPI2_NSEC_PER_USEC;
	*(struct aqm_params *)own = (struct aqm_params){
		.target_ns = rtts.typical * DUALPI2_NSEC_PER_USEC,
		.tupdate_ns = tupdate * DUALPI2_NSEC_PER_USEC,
		.alpha = alpha,
		.beta = beta,
	};
	return true;
}
