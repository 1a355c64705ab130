// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* VDQ-CSAQM in words. */
#include "aqm/vdq.h"

#include <stdio.h>

#include "aqm/aqm.h"
#include "cli/format.h"
#include "vdq/packet_value.h"

extern aqm_doubt vdq_doubt;
extern aqm_describe vdq_describe;

const char *vdq_doubt(const struct dualpi2_params *params)
{
	if (params->rate || aqm_own(params)->link_rate)
		return NULL;
	return "the rate of the link is not known, so nothing is marked or dropped: give --rate or "
	       "--link-rate";
}

/* Of somebody else's values nobody knows what rates they stand for. */
static const char *threshold(const struct dualpi2_stats *stats, __u32 ctv, char text[FORMAT_MAX])
{
	if (aqm_own(&stats->params)->value_source == VDQ_LABEL) {
		snprintf(text, FORMAT_MAX, "of a value up to %u", ctv);
	} else {
		char rate[FORMAT_MAX];

		snprintf(text, FORMAT_MAX, "above %s of each flow",
			 format_speed(8 * (double)value_rate(ctv), rate));
	}
	return text;
}

bool vdq_describe(const struct dualpi2_stats *stats, char *text, size_t size)
{
	const struct aqm_gauges *gauges = (const struct aqm_gauges *)stats->aqm;
	char all[FORMAT_MAX], l[FORMAT_MAX];

	if (gauges->ctv_l > gauges->ctv_all)
		snprintf(text, size, "the bottleneck: L4S packets %s are marked, others %s",
			 threshold(stats, gauges->ctv_l, l),
			 gauges->ctv_all ? threshold(stats, gauges->ctv_all, all) : "all pass");
	else if (gauges->ctv_all)
		snprintf(text, size, "the bottleneck: packets %s are marked or dropped",
			 threshold(stats, gauges->ctv_all, all));
	else
		return false;
	return true;
}
