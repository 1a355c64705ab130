// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "params.h"

#include <stdio.h>
#include <string.h>

#include "format.h"
#include "parse.h"
#include "pi2.h"

#define TIME_MAX_NS (UINT32_MAX * DUALPI2_NSEC_PER_USEC) /* as native: 32 bits of us */
#define TIME_MAX_TEXT "4294s"
#define TUPDATE_MIN_NS DUALPI2_NSEC_PER_USEC

/* A full frame takes 1.5 s at the lowest rate, 12 ns at the highest. */
#define RATE_MIN (8000ULL / 8)
#define RATE_MAX (1000000000000ULL / 8)

static enum value_status in_range(uint64_t value, uint64_t min, uint64_t max)
{
	return value < min || value > max ? VALUE_OUT_OF_RANGE : VALUE_OK;
}

/* set_NAME(): the function that reads a value and stores it as a member. */
#define DEFINE_SET(name, parse, min, max, member)                                            \
	static enum value_status set_##name(const char *text, struct dualpi2_params *params) \
	{                                                                                    \
		uint64_t value;                                                              \
                                                                                             \
		if (!parse(text, &value))                                                    \
			return VALUE_MALFORMED;                                              \
		params->member = value;                                                      \
		return in_range(value, min, max);                                            \
	}

/* show_NAME(): the function that shows a member. */
#define DEFINE_SHOW(name, format, member)                                               \
	static const char *show_##name(const struct dualpi2_params *params, char *text) \
	{                                                                               \
		return format(params->member, text);                                    \
	}

#define DEFINE_SHOW_NUMBER(name, unit, member)                                          \
	static const char *show_##name(const struct dualpi2_params *params, char *text) \
	{                                                                               \
		snprintf(text, FORMAT_MAX, "%u" unit, params->member);                  \
		return text;                                                            \
	}

DEFINE_SET(target, parse_time, 0, TIME_MAX_NS, target_ns)
DEFINE_SET(tupdate, parse_time, TUPDATE_MIN_NS, TIME_MAX_NS, tupdate_ns)
DEFINE_SET(alpha, parse_gain, 1, PI2_GAIN_MAX, alpha)
DEFINE_SET(beta, parse_gain, 1, PI2_GAIN_MAX, beta)
DEFINE_SET(coupling, parse_uint, 1, UINT8_MAX, coupling)
DEFINE_SET(protection, parse_percent, 0, 100, classic_protection)
DEFINE_SET(limit, parse_uint, 1, DUALPI2_LIMIT_MAX, limit)
DEFINE_SET(memlimit, parse_size, 1, UINT32_MAX, memlimit)

DEFINE_SHOW(target, format_time, target_ns)
DEFINE_SHOW(tupdate, format_time, tupdate_ns)
DEFINE_SHOW(alpha, format_gain, alpha)
DEFINE_SHOW(beta, format_gain, beta)
DEFINE_SHOW_NUMBER(coupling, "", coupling)
DEFINE_SHOW_NUMBER(protection, "%%", classic_protection)
DEFINE_SHOW_NUMBER(limit, "p", limit)
DEFINE_SHOW_NUMBER(memlimit, "b", memlimit)

static enum value_status set_rate(const char *text, struct dualpi2_params *params)
{
	uint64_t rate;

	if (!parse_rate(text, &rate))
		return VALUE_MALFORMED;
	params->rate = rate;
	return in_range(rate, rate ? RATE_MIN : 0, RATE_MAX);
}

static const char *show_rate(const struct dualpi2_params *params, char *text)
{
	if (params->rate)
		return format_rate(params->rate, text);
	strcpy(text, "unlimited");
	return text;
}

static enum value_status set_step(const char *text, struct dualpi2_params *params)
{
	bool in_packets;
	uint64_t value;

	if (!parse_step_thresh(text, &value, &in_packets))
		return VALUE_MALFORMED;
	params->step_in_packets = in_packets;
	if (in_packets)
		params->step_packets = value;
	else
		params->step_ns = value;
	return in_range(value, 0, in_packets ? UINT32_MAX : TIME_MAX_NS);
}

static const char *show_step(const struct dualpi2_params *params, char *text)
{
	if (!params->step_in_packets)
		return format_time(params->step_ns, text);
	snprintf(text, FORMAT_MAX, "%up", params->step_packets);
	return text;
}

const struct option_spec param_specs[N_PARAMS] = {
	[PARAM_RATE] = {
		.name = "rate", .argument = "RATE",
		.help = "send no faster than this (default: 0, as fast\n"
			"as the device can)",
		.kind = "a rate", .example = "40mbit", .range = "0, or 8kbit to 1tbit",
		.set = set_rate, .format = show_rate,
	},
	[PARAM_TARGET] = {
		.name = "target", .argument = "TIME",
		.help = "delay that the Classic queue is held at (15ms)",
		.kind = "a time", .example = "15ms", .range = "0us to " TIME_MAX_TEXT,
		.set = set_target, .format = show_target,
	},
	[PARAM_TUPDATE] = {
		.name = "tupdate", .argument = "TIME",
		.help = "interval between updates of the probability\n(16ms)",
		.kind = "a time", .example = "16ms", .range = "1us to " TIME_MAX_TEXT,
		.set = set_tupdate, .format = show_tupdate,
	},
	[PARAM_ALPHA] = {
		.name = "alpha", .argument = "HZ",
		.help = "integral gain, in steps of 1/256 Hz (0.160156)",
		.kind = "a gain in Hz", .example = "0.16", .range = "0.003906 to 32767.996094",
		.set = set_alpha, .format = show_alpha,
	},
	[PARAM_BETA] = {
		.name = "beta", .argument = "HZ",
		.help = "proportional gain, in steps of 1/256 Hz\n(3.199219)",
		.kind = "a gain in Hz", .example = "3.2", .range = "0.003906 to 32767.996094",
		.set = set_beta, .format = show_beta,
	},
	[PARAM_COUPLING_FACTOR] = {
		.name = "coupling-factor", .argument = "K",
		.help = "L4S is marked K times as often as p' (2)",
		.kind = "a whole number", .example = "2", .range = "1 to 255",
		.set = set_coupling, .format = show_coupling,
	},
	[PARAM_STEP_THRESH] = {
		.name = "step-thresh", .argument = "TIME|Np",
		.help = "delay, or packets as in 5p, above which every\n"
			"L4S packet is marked (1ms)",
		.kind = "a time or a number of packets", .example = "1ms or 5p",
		.range = "0us to " TIME_MAX_TEXT " or 0p to 4294967295p",
		.set = set_step, .format = show_step,
	},
	[PARAM_CLASSIC_PROTECTION] = {
		.name = "classic-protection", .argument = "PERCENT",
		.help = "share of the link that L4S leaves to Classic (10)",
		.kind = "a whole percentage", .example = "10%", .range = "0 to 100",
		.set = set_protection, .format = show_protection,
	},
	[PARAM_LIMIT] = {
		.name = "limit", .argument = "PACKETS",
		.help = "most packets in both queues (10000)",
		.kind = "a whole number", .example = "10000", .range = "1 to 8388608",
		.set = set_limit, .format = show_limit,
	},
	[PARAM_MEMLIMIT] = {
		.name = "memlimit", .argument = "BYTES",
		.help = "most kernel memory for both queues\n(2 * limit * (MTU + link header))",
		.kind = "a size", .example = "30m", .range = "1 to 4294967295",
		.set = set_memlimit, .format = show_memlimit,
	},
};

void params_apply(const char *const values[N_PARAMS], struct dualpi2_params *params)
{
	for (int i = 0; i < N_PARAMS; i++) {
		if (values[i])
			param_specs[i].set(values[i], params);
	}
}

bool params_given(const char *const values[N_PARAMS])
{
	for (int i = 0; i < N_PARAMS; i++) {
		if (values[i])
			return true;
	}
	return false;
}

const char *params_describe(const char *const values[N_PARAMS], const struct dualpi2_params *params,
			    char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < N_PARAMS && used < size; i++) {
		char value[FORMAT_MAX];

		if (values[i])
			used += snprintf(text + used, size - used, ", %s %s", param_specs[i].name,
					 param_specs[i].format(params, value));
	}
	return text;
}
