// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters that may not be meant. */
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "cli/format.h"

#define FULL_PACKET 1514 /* bytes of a frame of Ethernet */
#define LEAST_PACKETS 2	 /* one that is being sent, and one that waits */

/* Who gives a longer one wants no AQM, but the limit. */
#define LONGEST_TARGET_NS DUALPI2_NSEC_PER_SEC

uint64_t params_target(const struct aqm *aqm, const struct dualpi2_params *params)
{
	const struct option_spec *row;

	for (size_t i = 0; (row = params_row(aqm, i)); i++)
		if (row->name && !strcmp(row->name, "target"))
			return params_value(row, params);
	return 0;
}

/* The queues have no room. */
static const char *doubt_limits(const struct dualpi2_params *params, char *text)
{
	const struct dualpi2_params least = { .limit = LEAST_PACKETS };
	const uint32_t memory = dualpi2_memlimit(&least, FULL_PACKET);

	if (params->limit < LEAST_PACKETS)
		snprintf(text, PARAMS_WHY_MAX,
			 "limit %u: while a packet waits all others are dropped: give 1000 or more",
			 params->limit);
	else if (params->memlimit && params->memlimit < memory)
		snprintf(text, PARAMS_WHY_MAX,
			 "memlimit %u has no room for two full packets, so most are dropped: give "
			 "%ub or more, or limit instead",
			 params->memlimit, memory);
	else
		return NULL;
	return text;
}

/* The link is so slow that a single packet is late. */
static const char *doubt_rate(const struct aqm *aqm, const struct dualpi2_params *params,
			      char *text)
{
	const uint64_t target = params_target(aqm, params);
	const uint64_t packet =
		params->rate ? FULL_PACKET * DUALPI2_NSEC_PER_SEC / params->rate : 0;
	char time[FORMAT_MAX], rate[FORMAT_MAX], late[FORMAT_MAX];

	format_rate(params->rate, rate);
	format_delay((double)packet, time);
	if (packet > DUALPI2_NSEC_PER_SEC)
		snprintf(text, PARAMS_WHY_MAX,
			 "rate %s: a full packet takes %s: give a higher one if bytes or kbit were "
			 "meant",
			 rate, time);
	else if (target && packet > target)
		snprintf(text, PARAMS_WHY_MAX,
			 "target %s is shorter than the %s of a full packet at %s, so one that "
			 "waits for another is late: give --target %llums",
			 format_time(target, late), time, rate,
			 packet * 3 / 2 / DUALPI2_NSEC_PER_MSEC + 1);
	else
		return NULL;
	return text;
}

/* The link is so fast that `limit` full packets are no queue: they are dropped before they have
 * waited for as long as the AQM lets them.
 */
static const char *doubt_limit_at_rate(const struct aqm *aqm, const struct dualpi2_params *params,
				       char *text)
{
	const uint64_t target = params_target(aqm, params);
	const double packets = (double)target * params->rate / DUALPI2_NSEC_PER_SEC / FULL_PACKET;
	char rate[FORMAT_MAX], time[FORMAT_MAX];
	uint64_t enough;

	if (packets < params->limit || target > LONGEST_TARGET_NS)
		return NULL;
	enough = ((uint64_t)(2 * packets / 1000) + 1) * 1000;
	snprintf(text, PARAMS_WHY_MAX,
		 "limit %u: at %s so many full packets take less than the target of %s: give %llu "
		 "or more",
		 params->limit, format_rate(params->rate, rate), format_time(target, time),
		 (unsigned long long)enough);
	return text;
}

/* What hangs on a rate that is not known. */
static const char *doubt_sparse(const struct dualpi2_params *params)
{
	return params->sparse && !params->rate
		       ? "sparse does nothing without a rate, of which a flow could have a share: "
			 "give --rate, or --no-sparse"
		       : NULL;
}

/* What only says something of hosts. */
static const char *doubt_hosts(const struct dualpi2_params *params)
{
	static const struct dualpi2_params fresh = DUALPI2_DEFAULT_PARAMS;

	return params->per_host == DUALPI2_HOSTS_OFF && (params->hosts != fresh.hosts ||
							 params->host_prefix != fresh.host_prefix)
		       ? "hosts and host-prefix do nothing without per-host: give --per-host dst "
			 "or src"
		       : NULL;
}

const char *params_doubt(const struct aqm *aqm, const struct dualpi2_params *params, char *text)
{
	const char *own = aqm->doubt ? aqm->doubt(params) : NULL;

	return doubt_limits(params, text)
		       ?: doubt_rate(aqm, params, text) ?: doubt_limit_at_rate(aqm, params, text)
		       ?: doubt_sparse(params) ?: doubt_hosts(params) ?: own;
}

const char *params_surprise(const struct option_given *given, size_t i, char *text)
{
	char read[OPTION_TEXT_MAX];

	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++, given++) {
		if (!given->text || !value_surprise(spec, given->text, read) || i--)
			continue;
		snprintf(text, PARAMS_SURPRISE_MAX, "--%s %s is %s", spec->name, given->text, read);
		return text;
	}
	return NULL;
}
