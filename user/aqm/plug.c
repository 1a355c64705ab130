// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One AQM for the rest of user/, which names none: compiled once for each of its variants (enum
 * aqm_variant), with AQM_HEADER (include/aqm/NAME.h), AQM_SKELETON (the variant's BPF object), and
 * the symbols of all variants that it has: SYMBOL_PLAIN (aqm_NAME), SYMBOL_MQ (aqm_NAME_mq),
 * SYMBOL_HOSTS (aqm_NAME_hosts), SYMBOL_SUBSCRIBERS (aqm_NAME_subscribers). IS_MQ, IS_HOSTS or
 * IS_SUBSCRIBERS says that it is another than the plain one.
 */
#include "aqm/aqm.h"
#include "aqm/row.h"

#include AQM_HEADER
#include AQM_SKELETON

#ifdef AQM_DERIVED
extern aqm_derive AQM_DERIVE;
#else
#define AQM_DERIVED(DERIVED)
#define AQM_DERIVE NULL
#endif
#ifdef AQM_DOUBT
extern aqm_doubt AQM_DOUBT;
#else
#define AQM_DOUBT NULL
#endif
#ifdef AQM_DESCRIBE
extern aqm_describe AQM_DESCRIBE;
#else
#define AQM_DESCRIBE NULL
#endif
#ifndef AQM_HAS_VALUES
#define AQM_HAS_VALUES false
#endif
#ifndef AQM_PRESETS
#define AQM_PRESETS(PRESET)
#endif
#ifdef AQM_CAUTION
#define ROW_NOTE "\n" AQM_CAUTION
#else
#define ROW_NOTE
#endif
#ifndef AQM_PARAM_METRICS
#define AQM_PARAM_METRICS(GAUGE)
#endif

#if defined IS_MQ
#define OWN_VARIANT AQM_MQ
#define OWN_NAME AQM_NAME "-mq"
#define OWN_KIND AQM_SHARED_KIND
#define OWN_SYMBOL SYMBOL_MQ
#elif defined IS_HOSTS
#define OWN_VARIANT AQM_HOSTS
#define OWN_NAME AQM_NAME "-hosts"
#define OWN_KIND AQM_HOSTS_KIND
#define OWN_SYMBOL SYMBOL_HOSTS
#elif defined IS_SUBSCRIBERS
#define OWN_VARIANT AQM_SUBSCRIBERS
#define OWN_NAME AQM_NAME "-subscribers"
#define OWN_KIND AQM_SUBSCRIBERS_KIND
#define OWN_SYMBOL SYMBOL_SUBSCRIBERS
#else
#define OWN_VARIANT AQM_PLAIN
#define OWN_NAME AQM_NAME
#define OWN_KIND AQM_KIND
#define OWN_SYMBOL SYMBOL_PLAIN
#endif

_Static_assert(sizeof(OWN_KIND) <= 16, "a kind of qdisc has at most 15 characters"); /* IFNAMSIZ */

extern const struct aqm SYMBOL_PLAIN;
#ifdef SYMBOL_MQ
extern const struct aqm SYMBOL_MQ;
#define MQ_VARIANT &SYMBOL_MQ
#else
#define MQ_VARIANT NULL
#endif
#ifdef SYMBOL_HOSTS
extern const struct aqm SYMBOL_HOSTS;
#define HOSTS_VARIANT &SYMBOL_HOSTS
#else
#define HOSTS_VARIANT NULL
#endif
#ifdef SYMBOL_SUBSCRIBERS
extern const struct aqm SYMBOL_SUBSCRIBERS;
#define SUBSCRIBERS_VARIANT &SYMBOL_SUBSCRIBERS
#else
#define SUBSCRIBERS_VARIANT NULL
#endif

#define NOT_MADE_FOR_IT "it was not made for that"
#ifndef AQM_NOT_SHARED
#define AQM_NOT_SHARED NOT_MADE_FOR_IT
#endif
#ifndef AQM_NO_HOSTS
#define AQM_NO_HOSTS NOT_MADE_FOR_IT
#endif

#define ROW_STRUCT struct aqm_params
#define ROW_START offsetof(struct dualpi2_params, aqm)
#define ROW_AQM &SYMBOL_PLAIN
#define ROW_HEADING "AQM " AQM_NAME ": " AQM_ABOUT " (default)" ROW_NOTE

static const struct option_spec options[] = {
	AQM_PARAMS(ROW_PARAM, ROW_CHOICE, ROW_FLAG) AQM_DERIVED(ROW_DERIVED)
		AQM_PRESETS(ROW_PRESET){},
};

_Static_assert(sizeof(options) <= (AQM_OPTIONS_MAX + 1) * sizeof(options[0]),
	       "an AQM has too many options");

#define OWN_ROW(where_, struct_, counter_, type_, member_, ...)                                    \
	STAT_ROW_AT(offsetof(struct dualpi2_stats, where_) + offsetof(struct_, member_), counter_, \
		    type_, member_, __VA_ARGS__)
#define OWN_GAUGE(...) OWN_ROW(aqm, struct aqm_gauges, false, __VA_ARGS__)
#define OWN_COUNTER(...) OWN_ROW(aqm, struct aqm_gauges, true, __VA_ARGS__)
#define OWN_PARAM(...) OWN_ROW(params.aqm, struct aqm_params, false, __VA_ARGS__)

static const struct stat_row gauges[] = { AQM_GAUGES(OWN_GAUGE, OWN_COUNTER)
						  AQM_PARAM_METRICS(OWN_PARAM){} };

const struct aqm OWN_SYMBOL = {
	.variant = OWN_VARIANT,
	.variants = { &SYMBOL_PLAIN, MQ_VARIANT, HOSTS_VARIANT, SUBSCRIBERS_VARIANT },
	.why_not = { [AQM_MQ] = AQM_NOT_SHARED,
		     [AQM_HOSTS] = AQM_NO_HOSTS,
		     [AQM_SUBSCRIBERS] = AQM_NO_HOSTS },
	.name = OWN_NAME,
	.kind = OWN_KIND,
	.heading = ROW_HEADING,
	.object = dualpi2__elf_bytes,
	.options = options,
	.derive = AQM_DERIVE,
	.doubt = AQM_DOUBT,
	.describe = AQM_DESCRIBE,
	.has_values = AQM_HAS_VALUES,
	.gauges = gauges,
	.period = aqm_period,
};
