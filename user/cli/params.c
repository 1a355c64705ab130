// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/parse.h"
#include "aqm/pi2.h"
#include "pi2.h"

#define TIME_MAX_NS (UINT32_MAX * DUALPI2_NSEC_PER_USEC) /* as native: 32 bits of us */
#define TIME_MAX_TEXT "4294s"
#define TUPDATE_MIN_NS DUALPI2_NSEC_PER_USEC

/* typical-rtt where only max-rtt is given, and the other way round, as tc has it */
#define RTT_TYPICAL_TO_MAX 6

/* A full frame takes 1.5 s at the lowest rate, 12 ns at the highest. */
#define RATE_MIN (8000ULL / 8)
#define RATE_MAX (1000000000000ULL / 8)

#define OWN(params) ((struct aqm_params *)(params)->aqm)

#define GAIN_STEPS 256 /* in 1 Hz */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Write down why values are refused. Always returns false. */
static bool __attribute__((format(printf, 2, 3))) refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, PARAMS_WHY_MAX, format, args);
	va_end(args);
	return false;
}

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
		member = value;                                                              \
		return in_range(value, min, max);                                            \
	}

/* show_NAME(): the function that shows a member. */
#define DEFINE_SHOW(name, format, member)                                               \
	static const char *show_##name(const struct dualpi2_params *params, char *text) \
	{                                                                               \
		return format(member, text);                                            \
	}

#define DEFINE_SHOW_NUMBER(name, unit, member)                                          \
	static const char *show_##name(const struct dualpi2_params *params, char *text) \
	{                                                                               \
		snprintf(text, OPTION_TEXT_MAX, "%u" unit, member);                     \
		return text;                                                            \
	}

/* set_NAME() of an option without a value: it stands for a value of a member. */
#define DEFINE_FLAG(name, member, value)                                                     \
	static enum value_status set_##name(const char *text, struct dualpi2_params *params) \
	{                                                                                    \
		(void)text;                                                                  \
		member = value;                                                              \
		return VALUE_OK;                                                             \
	}

/* set_NAME() of a preset for the shaper. */
#define DEFINE_LINK(name, how, overhead_bytes, mpu_bytes)                                    \
	static enum value_status set_##name(const char *text, struct dualpi2_params *params) \
	{                                                                                    \
		(void)text;                                                                  \
		params->framing = how;                                                       \
		params->overhead = overhead_bytes;                                           \
		params->mpu = mpu_bytes;                                                     \
		return VALUE_OK;                                                             \
	}

DEFINE_SET(target, parse_time, 0, TIME_MAX_NS, OWN(params)->target_ns)
DEFINE_SET(tupdate, parse_time, TUPDATE_MIN_NS, TIME_MAX_NS, OWN(params)->tupdate_ns)
DEFINE_SET(alpha, parse_gain, 1, PI2_GAIN_MAX, OWN(params)->alpha)
DEFINE_SET(beta, parse_gain, 1, PI2_GAIN_MAX, OWN(params)->beta)
DEFINE_SET(coupling, parse_uint, 1, UINT8_MAX, params->coupling)
DEFINE_SET(protection, parse_percent, 0, 100, params->classic_protection)
DEFINE_SET(limit, parse_uint, 1, DUALPI2_LIMIT_MAX, params->limit)
DEFINE_SET(memlimit, parse_size, 1, UINT32_MAX, params->memlimit)
DEFINE_SET(min_qlen, parse_uint, 0, UINT32_MAX, params->min_qlen_step)
DEFINE_SET(mpu, parse_uint, 0, DUALPI2_MPU_MAX, params->mpu)

DEFINE_SHOW(target, format_time, OWN(params)->target_ns)
DEFINE_SHOW(tupdate, format_time, OWN(params)->tupdate_ns)
DEFINE_SHOW(alpha, format_gain, OWN(params)->alpha)
DEFINE_SHOW(beta, format_gain, OWN(params)->beta)
DEFINE_SHOW_NUMBER(coupling, "", params->coupling)
DEFINE_SHOW_NUMBER(protection, "%%", params->classic_protection)
DEFINE_SHOW_NUMBER(limit, "p", params->limit)
DEFINE_SHOW_NUMBER(memlimit, "b", params->memlimit)
DEFINE_SHOW_NUMBER(min_qlen, "", params->min_qlen_step)
DEFINE_SHOW_NUMBER(mpu, "", params->mpu)

DEFINE_FLAG(drop_on_overload, params->overflow, 0)
DEFINE_FLAG(overflow, params->overflow, 1)
DEFINE_FLAG(drop_dequeue, params->drop_enqueue, 0)
DEFINE_FLAG(drop_enqueue, params->drop_enqueue, 1)
DEFINE_FLAG(l4s_ect, params->ecn_mask, DUALPI2_ECN_L4S_ECT)
DEFINE_FLAG(any_ect, params->ecn_mask, DUALPI2_ECN_ANY_ECT)
DEFINE_FLAG(no_l4s, params->ecn_mask, DUALPI2_ECN_NO_L4S)
DEFINE_FLAG(split_gso, params->split_gso, 1)
DEFINE_FLAG(no_split_gso, params->split_gso, 0)

/* The figures of cake's keywords (tc-cake(8)). */
DEFINE_LINK(raw, DUALPI2_FRAMING_RAW, 0, 0)
DEFINE_LINK(ethernet, DUALPI2_FRAMING_NETWORK, 38, 84)
DEFINE_LINK(docsis, DUALPI2_FRAMING_NETWORK, 18, 64)
DEFINE_LINK(pppoe_ptm, DUALPI2_FRAMING_PTM, 30, 0)

static enum value_status set_overhead(const char *text, struct dualpi2_params *params)
{
	int64_t bytes;

	if (!parse_int(text, &bytes))
		return VALUE_MALFORMED;
	if (bytes < DUALPI2_OVERHEAD_MIN || bytes > DUALPI2_OVERHEAD_MAX)
		return VALUE_OUT_OF_RANGE;
	params->overhead = bytes;
	if (params->framing == DUALPI2_FRAMING_RAW)
		params->framing = DUALPI2_FRAMING_NETWORK;
	return VALUE_OK;
}

static const char *show_overhead(const struct dualpi2_params *params, char *text)
{
	if (params->framing == DUALPI2_FRAMING_RAW)
		strcpy(text, "none");
	else
		snprintf(text, OPTION_TEXT_MAX, "%d%s", params->overhead,
			 params->framing == DUALPI2_FRAMING_PTM ? " ptm" : "");
	return text;
}

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
	snprintf(text, OPTION_TEXT_MAX, "%up", params->step_packets);
	return text;
}

/* RTTs are kept nowhere: params_apply() turns them into other parameters. */
static enum value_status set_rtt(const char *text, struct dualpi2_params *params)
{
	uint64_t ns;

	(void)params;
	if (!parse_time(text, &ns))
		return VALUE_MALFORMED;
	return in_range(ns, DUALPI2_NSEC_PER_USEC, TIME_MAX_NS);
}

static enum value_status set_l_aqm(const char *text, struct dualpi2_params *params)
{
	if (!strcmp(text, "step"))
		params->l_aqm = DUALPI2_L_STEP;
	else if (!strcmp(text, "ramp"))
		params->l_aqm = DUALPI2_L_RAMP;
	else
		return VALUE_MALFORMED;
	return VALUE_OK;
}

static const char *show_l_aqm(const struct dualpi2_params *params, char *text)
{
	strcpy(text, params->l_aqm == DUALPI2_L_RAMP ? "ramp" : "step");
	return text;
}

/* 1/k^2, whatever k is */
#define P_CMAX_AUTO "auto"

/* 100 % is 2^32, which does not fit: it is kept as the highest probability there is. */
static enum value_status set_p_cmax(const char *text, struct dualpi2_params *params)
{
	const uint64_t one = 1ULL << 32;
	uint64_t share;

	params->p_cmax = 0;
	if (!strcmp(text, P_CMAX_AUTO))
		return VALUE_OK;
	if (!parse_share(text, &share))
		return VALUE_MALFORMED;
	params->p_cmax = share < one ? share : PROB_MAX;
	return in_range(share, 1, one);
}

static const char *show_p_cmax(const struct dualpi2_params *params, char *text)
{
	if (params->p_cmax)
		snprintf(text, OPTION_TEXT_MAX, "%.6g%%", 100.0 * params->p_cmax / PROB_MAX);
	else
		strcpy(text, P_CMAX_AUTO);
	return text;
}

#define DEFINE_SET_DSCPS(member)                                                               \
	static enum value_status set_##member(const char *text, struct dualpi2_params *params) \
	{                                                                                      \
		uint64_t dscps;                                                                \
                                                                                               \
		if (!parse_dscps(text, &dscps))                                                \
			return VALUE_MALFORMED;                                                \
		params->member = dscps;                                                        \
		return VALUE_OK;                                                               \
	}

static const char *format_dscps(uint64_t dscps, char *text)
{
	size_t used = 0;

	strcpy(text, "none");
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		const char *name = dscp_name(dscp), *comma = used ? "," : "";

		if (!(dscps >> dscp & 1))
			continue;
		if (name)
			used += snprintf(text + used, OPTION_TEXT_MAX - used, "%s%s", comma, name);
		else
			used += snprintf(text + used, OPTION_TEXT_MAX - used, "%s%u", comma, dscp);
	}
	return text;
}

DEFINE_SET_DSCPS(l4s_dscp)
DEFINE_SET_DSCPS(classic_dscp)
DEFINE_SHOW(l4s_dscp, format_dscps, params->l4s_dscp)
DEFINE_SHOW(classic_dscp, format_dscps, params->classic_dscp)

#define TIME_RANGE "0us to " TIME_MAX_TEXT
#define TIME_RANGE_FROM_1US "1us to " TIME_MAX_TEXT
#define GAIN_RANGE "0.003906 to 32767.996094"
#define UINT32_RANGE "0 to 4294967295"
#define DSCP_RANGE "0 to 63, cs0 to cs7, af11 to af43, ef, va, le, nqb, df; or none"

const struct option_spec param_specs[N_PARAMS] = {
	[PARAM_RATE] = {
		.name = "rate", .argument = "RATE",
		.help = "send no faster than this (default: 0, as fast\n"
			"as the device can)",
		.kind = "a rate", .example = "40mbit", .range = "0, or 8kbit to 1tbit",
		.set = set_rate, .format = show_rate,
	},
	[PARAM_RAW] = {
		.name = "raw", .slot = SLOT_LINK,
		.help = "RATE is of packets with their link header, as\n"
			"the kernel counts them (default)",
		.set = set_raw,
	},
	[PARAM_ETHERNET] = {
		.name = "ethernet", .slot = SLOT_LINK,
		.help = "RATE is an Ethernet's: --overhead 38 --mpu 84",
		.set = set_ethernet,
	},
	[PARAM_DOCSIS] = {
		.name = "docsis", .slot = SLOT_LINK,
		.help = "RATE is a cable modem's: --overhead 18 --mpu 64",
		.set = set_docsis,
	},
	[PARAM_PPPOE_PTM] = {
		.name = "pppoe-ptm", .slot = SLOT_LINK,
		.help = "RATE is a VDSL2 line's: --overhead 30 and a byte\n"
			"more for every 64",
		.set = set_pppoe_ptm,
	},
	[PARAM_OVERHEAD] = {
		.name = "overhead", .argument = "BYTES",
		.help = "what the link adds to a packet, counted from its\n"
			"IP header on; in place of a preset's",
		.kind = "a whole number", .example = "44", .range = "-64 to 256",
		.set = set_overhead, .format = show_overhead,
	},
	[PARAM_MPU] = {
		.name = "mpu", .argument = "BYTES",
		.help = "what a packet takes at least, overhead included\n"
			"(0); in place of a preset's",
		.kind = "a whole number", .example = "64", .range = "0 to 256",
		.set = set_mpu, .format = show_mpu,
	},
	[PARAM_TARGET] = {
		.name = "target", .argument = "TIME",
		.help = "delay that the Classic queue is held at (15ms)",
		.kind = "a time", .example = "15ms", .range = TIME_RANGE,
		.set = set_target, .format = show_target,
	},
	[PARAM_TUPDATE] = {
		.name = "tupdate", .argument = "TIME",
		.help = "interval between updates of the probability\n(16ms)",
		.kind = "a time", .example = "16ms", .range = TIME_RANGE_FROM_1US,
		.set = set_tupdate, .format = show_tupdate,
	},
	[PARAM_ALPHA] = {
		.name = "alpha", .argument = "HZ",
		.help = "integral gain, in steps of 1/256 Hz (0.160156)",
		.kind = "a gain in Hz", .example = "0.16", .range = GAIN_RANGE,
		.set = set_alpha, .format = show_alpha,
	},
	[PARAM_BETA] = {
		.name = "beta", .argument = "HZ",
		.help = "proportional gain, in steps of 1/256 Hz\n(3.199219)",
		.kind = "a gain in Hz", .example = "3.2", .range = GAIN_RANGE,
		.set = set_beta, .format = show_beta,
	},
	[PARAM_MAX_RTT] = {
		.name = "max-rtt", .argument = "TIME",
		.help = "highest RTT of the traffic (6 * typical RTT); sets\n"
			"target, tupdate, alpha and beta",
		.kind = "a time", .example = "100ms", .range = TIME_RANGE_FROM_1US,
		.set = set_rtt,
	},
	[PARAM_TYPICAL_RTT] = {
		.name = "typical-rtt", .argument = "TIME",
		.help = "usual RTT of the traffic (max RTT / 6); sets the\n"
			"same",
		.kind = "a time", .example = "15ms", .range = TIME_RANGE_FROM_1US,
		.set = set_rtt,
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
			"L4S packet is marked (1ms); a delay marks none\n"
			"that finds fewer than two in the queue",
		.kind = "a time or a number of packets", .example = "1ms or 5p",
		.range = TIME_RANGE " or 0p to 4294967295p",
		.set = set_step, .format = show_step,
	},
	[PARAM_MIN_QLEN_STEP] = {
		.name = "min-qlen-step", .argument = "PACKETS",
		.help = "packets in the L4S queue below which none is\n"
			"marked by the step (0)",
		.kind = "a whole number", .example = "5", .range = UINT32_RANGE,
		.set = set_min_qlen, .format = show_min_qlen,
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
		.help = "most kernel memory for both queues (2 * limit *\n"
			"(MTU + link header), and again with --limit alone)",
		.kind = "a size", .example = "30m", .range = "1 to 4294967295",
		.set = set_memlimit, .format = show_memlimit,
	},
	[PARAM_DROP_ON_OVERLOAD] = {
		.name = "drop-on-overload", .slot = SLOT_OVERLOAD,
		.help = "in overload both queues drop (default)",
		.set = set_drop_on_overload,
	},
	[PARAM_OVERFLOW] = {
		.name = "overflow", .slot = SLOT_OVERLOAD,
		.help = "in overload the queue grows up to its limit",
		.set = set_overflow,
	},
	[PARAM_DROP_DEQUEUE] = {
		.name = "drop-dequeue", .slot = SLOT_DROP,
		.help = "PI2 drops packets as they leave (default)",
		.set = set_drop_dequeue,
	},
	[PARAM_DROP_ENQUEUE] = {
		.name = "drop-enqueue", .slot = SLOT_DROP,
		.help = "PI2 drops packets as they arrive",
		.set = set_drop_enqueue,
	},
	[PARAM_L4S_ECT] = {
		.name = "l4s-ect", .slot = SLOT_ECN,
		.help = "ECT(1) and CE are L4S (default)",
		.set = set_l4s_ect,
	},
	[PARAM_ANY_ECT] = {
		.name = "any-ect", .slot = SLOT_ECN,
		.help = "ECT(0) is L4S too",
		.set = set_any_ect,
	},
	[PARAM_SPLIT_GSO] = {
		.name = "split-gso", .slot = SLOT_SPLIT,
		.help = "GSO packets are split before they queue (default)",
		.set = set_split_gso,
	},
	[PARAM_NO_SPLIT_GSO] = {
		.name = "no-split-gso", .slot = SLOT_SPLIT,
		.help = "a GSO packet, up to 64 kB and more, waits as one",
		.set = set_no_split_gso,
	},
	[PARAM_NO_L4S] = {
		.name = "no-l4s", .slot = SLOT_ECN,
		.help = "nothing is L4S by its ECN field, and ECT(1)\n"
			"counts as Not-ECT",
		.set = set_no_l4s,
	},
	[PARAM_L4S_DSCP] = {
		.name = "l4s-dscp", .argument = "LIST",
		.help = "DSCPs whose packets use the L4S queue whatever\n"
			"their ECN field, as in ef,nqb,40 (none)",
		.kind = "a list of DSCPs", .example = "ef,nqb,40", .range = DSCP_RANGE,
		.set = set_l4s_dscp, .format = show_l4s_dscp,
	},
	[PARAM_CLASSIC_DSCP] = {
		.name = "classic-dscp", .argument = "LIST",
		.help = "DSCPs whose packets never use the L4S queue (none)",
		.kind = "a list of DSCPs", .example = "cs1,le", .range = DSCP_RANGE,
		.set = set_classic_dscp, .format = show_classic_dscp,
	},
	[PARAM_L_AQM] = {
		.name = "l-aqm", .argument = "step|ramp",
		.help = "AQM of the L4S queue: every packet above the step\n"
			"threshold is marked (step), or from 800us on more\n"
			"and more and above 1.2ms every one (ramp)",
		.kind = "an AQM", .example = "ramp", .range = "step or ramp",
		.set = set_l_aqm, .format = show_l_aqm,
	},
	[PARAM_P_CMAX] = {
		.name = "p-cmax", .argument = "PERCENT",
		.help = "Classic probability from which on it is overload\n"
			"(auto: 1/K^2)",
		.kind = "a percentage", .example = "25%", .range = "above 0 to 100, or auto",
		.set = set_p_cmax, .format = show_p_cmax,
	},
};

/* ---- RTTs ---------------------------------------------------------------------- */

/* In whole microseconds, as tc has them. */
struct rtts {
	uint64_t max;
	uint64_t typical;
};

static uint64_t rtt_us(const char *text)
{
	uint64_t ns = 0;

	parse_time(text, &ns);
	return ns / DUALPI2_NSEC_PER_USEC;
}

static bool rtts_given(const char *const values[N_PARAMS])
{
	return values[PARAM_MAX_RTT] || values[PARAM_TYPICAL_RTT];
}

/* The RTTs of which at least one was given. */
static struct rtts read_rtts(const char *const values[N_PARAMS])
{
	const char *max = values[PARAM_MAX_RTT], *typical = values[PARAM_TYPICAL_RTT];
	struct rtts rtts = {};

	if (max)
		rtts.max = rtt_us(max);
	if (typical)
		rtts.typical = rtt_us(typical);
	if (!max)
		rtts.max = rtts.typical * RTT_TYPICAL_TO_MAX;
	if (!typical)
		rtts.typical = max_u64(rtts.max / RTT_TYPICAL_TO_MAX, 1);
	return rtts;
}

/* Target, tupdate and gains for these RTTs (RFC 9332, A.1). In tc's own arithmetic, double
 * with constants of type float, so that each gain comes out the same to its last bit.
 */
static bool apply_rtts(const char *const values[N_PARAMS], struct dualpi2_params *params, char *why)
{
	const enum param given = values[PARAM_MAX_RTT] ? PARAM_MAX_RTT : PARAM_TYPICAL_RTT;
	const struct rtts rtts = read_rtts(values);
	const uint64_t tupdate = max_u64(min_u64(rtts.typical, rtts.max / 3), 1);
	const double us_per_s = 1000000;
	const double alpha = (double)tupdate / (double)rtts.max / (double)rtts.max * us_per_s *
			     0.1f * GAIN_STEPS;
	const double beta = 0.3f / (double)rtts.max * us_per_s * GAIN_STEPS;

	if (rtts.typical > rtts.max)
		return refuse(why, "--typical-rtt %s: above --max-rtt %s",
			      values[PARAM_TYPICAL_RTT], values[PARAM_MAX_RTT]);
	if (alpha < 1)
		return refuse(why, "--%s %s: too high: alpha would be below 1/256 Hz, its lowest",
			      param_specs[given].name, values[given]);
	if (beta > PI2_GAIN_MAX)
		return refuse(why,
			      "--%s %s: too low: beta would be above 32767.996094 Hz, its highest",
			      param_specs[given].name, values[given]);
	OWN(params)->target_ns = rtts.typical * DUALPI2_NSEC_PER_USEC;
	OWN(params)->tupdate_ns = tupdate * DUALPI2_NSEC_PER_USEC;
	OWN(params)->alpha = alpha;
	OWN(params)->beta = beta;
	return true;
}

/* ---- all together -------------------------------------------------------------- */

static bool link_agrees(const char *const values[N_PARAMS], char *why)
{
	if (values[PARAM_RAW] && values[PARAM_OVERHEAD])
		return refuse(why, "--overhead %s: excludes --raw: give one of them",
			      values[PARAM_OVERHEAD]);
	return true;
}

static bool dscps_agree(const struct dualpi2_params *params, char *why)
{
	char text[OPTION_TEXT_MAX];
	uint64_t both = params->l4s_dscp & params->classic_dscp;

	if (both)
		return refuse(why,
			      "--l4s-dscp, --classic-dscp: both would have %s: take it out of one",
			      format_dscps(both, text));
	return true;
}

bool params_apply(const char *const values[N_PARAMS], struct dualpi2_params *params, char *why)
{
	for (int i = 0; i < N_PARAMS; i++) {
		if (values[i])
			param_specs[i].set(values[i], params);
	}
	if (values[PARAM_LIMIT] && !values[PARAM_MEMLIMIT])
		params->memlimit = 0;
	if (rtts_given(values) && !apply_rtts(values, params, why))
		return false;
	return link_agrees(values, why) && dscps_agree(params, why);
}

struct dualpi2_params params_default(void)
{
	struct dualpi2_params params = DUALPI2_DEFAULT_PARAMS;

	*OWN(&params) = (struct aqm_params)AQM_DEFAULT_PARAMS;
	return params;
}

bool params_given(const char *const values[N_PARAMS])
{
	for (int i = 0; i < N_PARAMS; i++) {
		if (values[i])
			return true;
	}
	return false;
}

/* An option without a value is in force where giving it would change nothing. */
static bool in_force(enum param param, const struct dualpi2_params *params)
{
	struct dualpi2_params with = *params;

	param_specs[param].set("", &with);
	return !memcmp(&with, params, sizeof(with));
}

bool params_differ(enum param param, const struct dualpi2_params *params)
{
	const struct dualpi2_params defaults = params_default();
	const struct option_spec *spec = &param_specs[param];
	char here[OPTION_TEXT_MAX], there[OPTION_TEXT_MAX];

	if (spec->format)
		return strcmp(spec->format(params, here), spec->format(&defaults, there));
	if (spec->argument || spec->slot == SLOT_LINK)
		return false;
	return in_force(param, params) && !in_force(param, &defaults);
}

const char *params_choice(enum param_slot slot, const struct dualpi2_params *params)
{
	for (int param = 0; param < N_PARAMS; param++) {
		if (param_specs[param].slot == slot && in_force(param, params))
			return param_specs[param].name;
	}
	return "unknown"; /* somebody else wrote to the map */
}

const char *params_text(enum param param, const struct dualpi2_params *params, char *text)
{
	const struct option_spec *spec = &param_specs[param];
	size_t used = snprintf(text, OPTION_TEXT_MAX, "%s", spec->name);
	char value[OPTION_TEXT_MAX];

	if (spec->format)
		snprintf(text + used, OPTION_TEXT_MAX - used, " %s", spec->format(params, value));
	return text;
}

/* What RTTs set, and so is shown with them. */
static bool is_derived(enum param param)
{
	return param >= PARAM_TARGET && param <= PARAM_BETA;
}

static size_t describe_rtts(const struct rtts *rtts, char *text, size_t size)
{
	char max[FORMAT_MAX], typical[FORMAT_MAX];

	return snprintf(text, size, ", max-rtt %s, typical-rtt %s",
			format_time(rtts->max * DUALPI2_NSEC_PER_USEC, max),
			format_time(rtts->typical * DUALPI2_NSEC_PER_USEC, typical));
}

const char *params_describe(const char *const values[N_PARAMS], const struct dualpi2_params *params,
			    char *text, size_t size)
{
	const bool with_rtts = rtts_given(values);
	size_t used = 0;

	text[0] = '\0';
	if (with_rtts) {
		const struct rtts rtts = read_rtts(values);

		used = describe_rtts(&rtts, text, size);
	}
	for (int i = 0; i < N_PARAMS && used < size; i++) {
		bool shown = values[i] || (is_derived(i) && with_rtts);
		char one[OPTION_TEXT_MAX];

		if (shown && param_specs[i].set != set_rtt)
			used += snprintf(text + used, size - used, ", %s",
					 params_text(i, params, one));
	}
	return text;
}
