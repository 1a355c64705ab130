// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters and counters: include/dualpi2.h, and the option table of
 * user/params.c with its ranges.
 */
#include <string.h>

#include "aqm/pi2.h"
#include "dualpi2.h"
#include "cli/parse.h"
#include "cli/params.h" /* before unit.h: cmocka has a macro fail(), we have a function */

#include "unit.h"

static struct dualpi2_params defaults; /* main() */

/* As sch_dualpi2's (the table of the native command line). */
static void defaults_are_native(void **state)
{
	(void)state;
	assert_int_equal(defaults.limit, 10000);
	assert_int_equal(defaults.memlimit, 0);
	assert_int_equal(aqm_own(&defaults)->target_ns, 15000000);
	assert_int_equal(aqm_own(&defaults)->tupdate_ns, 16000000);
	assert_int_equal(aqm_own(&defaults)->alpha, 41);
	assert_int_equal(aqm_own(&defaults)->beta, 819);
	assert_int_equal(defaults.coupling, 2);
	assert_int_equal(defaults.step_ns, 1000000);
	assert_int_equal(defaults.step_in_packets, 0);
	assert_int_equal(defaults.classic_protection, 10);
	assert_int_equal(defaults.min_qlen_step, 0);
	assert_int_equal(defaults.overflow, 0);
	assert_int_equal(defaults.drop_enqueue, 0);
	assert_int_equal(defaults.ecn_mask, DUALPI2_ECN_L4S_ECT);
	assert_int_equal(defaults.l_aqm, DUALPI2_L_STEP);
	assert_int_equal(defaults.rate, 0);
}

static void memlimit_is_twice_the_full_packets(void **state)
{
	struct dualpi2_params params = defaults;

	(void)state;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 30280000);
	params.limit = 1;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 3028);
	params.limit = DUALPI2_LIMIT_MAX; /* 2^24 * frame_len bytes */
	assert_int_equal(dualpi2_memlimit(&params, 255), 255U << 24);
	assert_int_equal(dualpi2_memlimit(&params, 256), UINT32_MAX);
	assert_int_equal(dualpi2_memlimit(&params, UINT32_MAX), UINT32_MAX);
}

static void memlimit_given_is_in_force(void **state)
{
	struct dualpi2_params params = { .limit = 10000, .memlimit = 1 };

	(void)state;
	assert_int_equal(dualpi2_memlimit(&params, 1514), 1);
	params.memlimit = UINT32_MAX;
	assert_int_equal(dualpi2_memlimit(&params, 1514), UINT32_MAX);
}

/* Every counter called drop_* but the bytes is a drop, and nothing else is. */
static void drops_are_all_drop_counters(void **state)
{
	struct dualpi2_counters counters;
	uint64_t *counter = (uint64_t *)&counters, expected = 0, worth = 1;

	(void)state;
	memset(&counters, 0x55, sizeof(counters));
#define SET(member, unit, meaning)                                     \
	*counter++ = worth;                                            \
	if (!strncmp(#member, "drop_", 5) && !strcmp(unit, "packets")) \
		expected += worth;                                     \
	worth *= 2;
	DUALPI2_QUEUE_COUNTERS(SET)
#undef SET
	assert_int_equal(dualpi2_drops(&counters), expected);
}

/* The edges of every range, both sides. */
static void ranges(void **state)
{
	static const struct {
		enum param param;
		const char *text;
		enum value_status status;
	} rows[] = {
		{ PARAM_RATE, "0", VALUE_OK },
		{ PARAM_RATE, "8kbit", VALUE_OK },
		{ PARAM_RATE, "7999bit", VALUE_OUT_OF_RANGE },
		{ PARAM_RATE, "1tbit", VALUE_OK },
		{ PARAM_RATE, "1.1tbit", VALUE_OUT_OF_RANGE },
		{ PARAM_RATE, "40mb", VALUE_MALFORMED },
		{ PARAM_TARGET, "0", VALUE_OK },
		{ PARAM_TARGET, "4294967295us", VALUE_OK },
		{ PARAM_TARGET, "4294967296us", VALUE_OUT_OF_RANGE },
		{ PARAM_TARGET, "-1ms", VALUE_MALFORMED },
		{ PARAM_TUPDATE, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_TUPDATE, "0.999us", VALUE_OUT_OF_RANGE },
		{ PARAM_TUPDATE, "1us", VALUE_OK },
		{ PARAM_ALPHA, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_ALPHA, "0.00391", VALUE_OK },
		{ PARAM_ALPHA, "32767.99609375", VALUE_OK },
		{ PARAM_BETA, "32768", VALUE_OUT_OF_RANGE },
		{ PARAM_BETA, "3.2hz", VALUE_MALFORMED },
		{ PARAM_COUPLING_FACTOR, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_COUPLING_FACTOR, "1", VALUE_OK },
		{ PARAM_COUPLING_FACTOR, "255", VALUE_OK },
		{ PARAM_COUPLING_FACTOR, "256", VALUE_OUT_OF_RANGE },
		{ PARAM_COUPLING_FACTOR, "4294967298", VALUE_OUT_OF_RANGE },
		{ PARAM_STEP_THRESH, "0", VALUE_OK },
		{ PARAM_STEP_THRESH, "4294967295p", VALUE_OK },
		{ PARAM_STEP_THRESH, "4294967296p", VALUE_OUT_OF_RANGE },
		{ PARAM_STEP_THRESH, "1.5p", VALUE_MALFORMED },
		{ PARAM_CLASSIC_PROTECTION, "0", VALUE_OK },
		{ PARAM_CLASSIC_PROTECTION, "100%", VALUE_OK },
		{ PARAM_CLASSIC_PROTECTION, "101", VALUE_OUT_OF_RANGE },
		{ PARAM_CLASSIC_PROTECTION, "10.5", VALUE_MALFORMED },
		{ PARAM_LIMIT, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_LIMIT, "1", VALUE_OK },
		{ PARAM_LIMIT, "8388608", VALUE_OK },
		{ PARAM_LIMIT, "8388609", VALUE_OUT_OF_RANGE },
		{ PARAM_LIMIT, "99999999999999999999999", VALUE_OUT_OF_RANGE },
		{ PARAM_MEMLIMIT, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_MEMLIMIT, "1", VALUE_OK },
		{ PARAM_MEMLIMIT, "4294967295", VALUE_OK },
		{ PARAM_MEMLIMIT, "4g", VALUE_OUT_OF_RANGE },
		{ PARAM_MIN_QLEN_STEP, "0", VALUE_OK },
		{ PARAM_MIN_QLEN_STEP, "4294967295", VALUE_OK },
		{ PARAM_MIN_QLEN_STEP, "4294967296", VALUE_OUT_OF_RANGE },
		{ PARAM_MIN_QLEN_STEP, "5p", VALUE_MALFORMED },
		{ PARAM_MAX_RTT, "0.999us", VALUE_OUT_OF_RANGE },
		{ PARAM_MAX_RTT, "1us", VALUE_OK },
		{ PARAM_TYPICAL_RTT, "4294967295us", VALUE_OK },
		{ PARAM_TYPICAL_RTT, "4295s", VALUE_OUT_OF_RANGE },
		{ PARAM_OVERHEAD, "-65", VALUE_OUT_OF_RANGE },
		{ PARAM_OVERHEAD, "-64", VALUE_OK },
		{ PARAM_OVERHEAD, "256", VALUE_OK },
		{ PARAM_OVERHEAD, "257", VALUE_OUT_OF_RANGE },
		{ PARAM_OVERHEAD, "65536", VALUE_OUT_OF_RANGE },
		{ PARAM_OVERHEAD, "1k", VALUE_MALFORMED },
		{ PARAM_MPU, "0", VALUE_OK },
		{ PARAM_MPU, "256", VALUE_OK },
		{ PARAM_MPU, "257", VALUE_OUT_OF_RANGE },
		{ PARAM_MPU, "65536", VALUE_OUT_OF_RANGE },
		{ PARAM_MPU, "-1", VALUE_MALFORMED },
		{ PARAM_L_AQM, "ramp", VALUE_OK },
		{ PARAM_L_AQM, "step", VALUE_OK },
		{ PARAM_L_AQM, "ramps", VALUE_MALFORMED },
		{ PARAM_P_CMAX, "0", VALUE_OUT_OF_RANGE },
		{ PARAM_P_CMAX, "0.00000001", VALUE_OUT_OF_RANGE },
		{ PARAM_P_CMAX, "0.00000003%", VALUE_OK },
		{ PARAM_P_CMAX, "100%", VALUE_OK },
		{ PARAM_P_CMAX, "100.000001%", VALUE_OUT_OF_RANGE },
		{ PARAM_P_CMAX, "1/4", VALUE_MALFORMED },
		{ PARAM_L4S_DSCP, "63", VALUE_OK },
		{ PARAM_L4S_DSCP, "64", VALUE_MALFORMED },
		{ PARAM_CLASSIC_DSCP, "le,ef", VALUE_OK },
		{ PARAM_CLASSIC_DSCP, "best", VALUE_MALFORMED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_spec *spec = &param_specs[rows[i].param];
		struct dualpi2_params scratch = defaults;
		enum value_status status = spec->set(rows[i].text, &scratch);

		if (status != rows[i].status)
			print_error("--%s %s\n", spec->name, rows[i].text);
		assert_int_equal(status, rows[i].status);
	}
}

/* Every option with a value says what a wrong one is told. */
static void every_value_has_a_range(void **state)
{
	(void)state;
	for (int i = 0; i < N_PARAMS; i++) {
		const struct option_spec *spec = &param_specs[i];
		struct dualpi2_params scratch = defaults;

		assert_non_null(spec->set);
		if (!spec->argument)
			continue;
		assert_non_null(spec->kind);
		assert_non_null(spec->range);
		assert_non_null(spec->example);
		assert_int_equal(spec->set("", &scratch), VALUE_MALFORMED);
	}
}

/* What an option given alone makes of the defaults. */
static struct dualpi2_params apply_one(enum param param, const char *text)
{
	const char *values[N_PARAMS] = {};
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX];

	values[param] = text;
	assert_true(params_apply(values, &params, why));
	return params;
}

/* A member of struct dualpi2_params, and a value for it. */
#define MEMBER(name, number) \
	offsetof(struct dualpi2_params, name), sizeof(defaults.name), (uint64_t)(number)

#define AQM_MEMBER(name, number)                                                  \
	offsetof(struct dualpi2_params, aqm) + offsetof(struct aqm_params, name), \
		sizeof(((struct aqm_params *)0)->name), (uint64_t)(number)

static void store(void *params, size_t offset, size_t size, uint64_t number)
{
	uint8_t byte = number;
	uint16_t half = number;
	uint32_t word = number;
	const void *const sized[] = { [1] = &byte, [2] = &half, [4] = &word, [8] = &number };

	memcpy((char *)params + offset, sized[size], size);
}

/* Each option sets its own member, and only that one; shown, it reads the same. */
static void each_option_sets_its_member(void **state)
{
	static const struct {
		enum param param;
		const char *text;
		const char *shown;
		size_t offset, size;
		uint64_t number;
	} rows[] = {
		{ PARAM_RATE, "40mbit", "rate 40mbit", MEMBER(rate, 5000000) },
		{ PARAM_MPU, "64", "mpu 64", MEMBER(mpu, 64) },
		{ PARAM_TARGET, "5ms", "target 5ms", AQM_MEMBER(target_ns, 5000000) },
		{ PARAM_TUPDATE, "6ms", "tupdate 6ms", AQM_MEMBER(tupdate_ns, 6000000) },
		{ PARAM_ALPHA, "0.15625", "alpha 0.156250", AQM_MEMBER(alpha, 40) },
		{ PARAM_BETA, "3.125", "beta 3.125000", AQM_MEMBER(beta, 800) },
		{ PARAM_COUPLING_FACTOR, "4", "coupling-factor 4", MEMBER(coupling, 4) },
		{ PARAM_STEP_THRESH, "700us", "step-thresh 700us", MEMBER(step_ns, 700000) },
		{ PARAM_MIN_QLEN_STEP, "7", "min-qlen-step 7", MEMBER(min_qlen_step, 7) },
		{ PARAM_CLASSIC_PROTECTION, "25%", "classic-protection 25%",
		  MEMBER(classic_protection, 25) },
		{ PARAM_LIMIT, "1234", "limit 1234p", MEMBER(limit, 1234) },
		{ PARAM_MEMLIMIT, "2m", "memlimit 2097152b", MEMBER(memlimit, 2 << 20) },
		{ PARAM_OVERFLOW, "", "overflow", MEMBER(overflow, 1) },
		{ PARAM_DROP_ENQUEUE, "", "drop-enqueue", MEMBER(drop_enqueue, 1) },
		{ PARAM_ANY_ECT, "", "any-ect", MEMBER(ecn_mask, DUALPI2_ECN_ANY_ECT) },
		{ PARAM_NO_L4S, "", "no-l4s", MEMBER(ecn_mask, DUALPI2_ECN_NO_L4S) },
		{ PARAM_L4S_DSCP, "ef,nqb,50", "l4s-dscp nqb,ef,50",
		  MEMBER(l4s_dscp, 1ULL << 45 | 1ULL << 46 | 1ULL << 50) },
		{ PARAM_CLASSIC_DSCP, "le", "classic-dscp le", MEMBER(classic_dscp, 2) },
		{ PARAM_L_AQM, "ramp", "l-aqm ramp", MEMBER(l_aqm, DUALPI2_L_RAMP) },
		{ PARAM_P_CMAX, "12.5%", "p-cmax 12.5%", MEMBER(p_cmax, 1U << 29) },
		{ PARAM_P_CMAX, "6%", "p-cmax 6%", MEMBER(p_cmax, 257698037) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dualpi2_params params = apply_one(rows[i].param, rows[i].text);
		struct dualpi2_params expected = defaults;
		char text[OPTION_TEXT_MAX];

		store(&expected, rows[i].offset, rows[i].size, rows[i].number);
		if (memcmp(&params, &expected, sizeof(params)))
			print_error("%s\n", rows[i].shown);
		assert_memory_equal(&params, &expected, sizeof(params));
		assert_string_equal(params_text(rows[i].param, &params, text), rows[i].shown);
		/* It alone is told to differ from the defaults. */
		for (int other = 0; other < N_PARAMS; other++)
			assert_int_equal(params_differ(other, &params),
					 other == (int)rows[i].param);
	}
}

/* The other spelling of each pair takes back what the first one set. */
static void flags_take_back(void **state)
{
	static const enum param pairs[][2] = {
		{ PARAM_OVERFLOW, PARAM_DROP_ON_OVERLOAD },
		{ PARAM_DROP_ENQUEUE, PARAM_DROP_DEQUEUE },
		{ PARAM_ANY_ECT, PARAM_L4S_ECT },
		{ PARAM_NO_L4S, PARAM_L4S_ECT },
		{ PARAM_PPPOE_PTM, PARAM_RAW },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct option_spec *there = &param_specs[pairs[i][0]];
		const struct option_spec *back = &param_specs[pairs[i][1]];
		struct dualpi2_params params = apply_one(pairs[i][0], "");

		assert_int_equal(there->slot, back->slot);
		assert_string_equal(params_choice(there->slot, &params), there->name);
		back->set("", &params);
		assert_memory_equal(&params, &defaults, sizeof(params));
		assert_string_equal(params_choice(there->slot, &params), back->name);
	}
}

static void all_dscps_fit_the_text(void **state)
{
	struct dualpi2_params params = { .l4s_dscp = UINT64_MAX };
	char text[OPTION_TEXT_MAX];
	uint64_t read;

	(void)state;
	assert_true(parse_dscps(param_specs[PARAM_L4S_DSCP].format(&params, text), &read));
	assert_int_equal(read, UINT64_MAX);
	params.l4s_dscp = 0;
	assert_string_equal(param_specs[PARAM_L4S_DSCP].format(&params, text), "none");
}

static void step_in_packets_and_back(void **state)
{
	struct dualpi2_params params = apply_one(PARAM_STEP_THRESH, "5pkt");
	char text[OPTION_TEXT_MAX];

	(void)state;
	assert_int_equal(params.step_in_packets, 1);
	assert_int_equal(params.step_packets, 5);
	assert_string_equal(param_specs[PARAM_STEP_THRESH].format(&params, text), "5p");
	assert_int_equal(param_specs[PARAM_STEP_THRESH].set("2ms", &params), VALUE_OK);
	assert_int_equal(params.step_in_packets, 0);
	assert_int_equal(params.step_ns, 2000000);
}

static void p_cmax_ends_at_one_and_can_be_auto(void **state)
{
	struct dualpi2_params params = apply_one(PARAM_P_CMAX, "100");
	char text[OPTION_TEXT_MAX];

	(void)state;
	assert_int_equal(params.p_cmax, UINT32_MAX);
	assert_string_equal(param_specs[PARAM_P_CMAX].format(&params, text), "100%");
	assert_int_equal(param_specs[PARAM_P_CMAX].set("auto", &params), VALUE_OK);
	assert_int_equal(params.p_cmax, 0);
	assert_string_equal(param_specs[PARAM_P_CMAX].format(&params, text), "auto");
	assert_string_equal(param_specs[PARAM_P_CMAX].format(&defaults, text), "auto");
}

/* As dualpi2_change() of native has it. */
static void limit_alone_renews_memlimit(void **state)
{
	const char *values[N_PARAMS] = { [PARAM_LIMIT] = "50" };
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX];

	(void)state;
	params.memlimit = 12345;
	assert_true(params_apply(values, &params, why));
	assert_int_equal(params.limit, 50);
	assert_int_equal(params.memlimit, 0);
	values[PARAM_MEMLIMIT] = "1000";
	assert_true(params_apply(values, &params, why));
	assert_int_equal(params.memlimit, 1000);
}

/* ---- the link ------------------------------------------------------------------ */

/* The figures of tc-cake(8). */
static void presets_of_links(void **state)
{
	static const struct {
		enum param param;
		int framing, overhead, mpu;
	} rows[] = {
		{ PARAM_RAW, DUALPI2_FRAMING_RAW, 0, 0 },
		{ PARAM_ETHERNET, DUALPI2_FRAMING_NETWORK, 38, 84 },
		{ PARAM_DOCSIS, DUALPI2_FRAMING_NETWORK, 18, 64 },
		{ PARAM_PPPOE_PTM, DUALPI2_FRAMING_PTM, 30, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dualpi2_params params = apply_one(rows[i].param, "");

		assert_int_equal(params.framing, rows[i].framing);
		assert_int_equal(params.overhead, rows[i].overhead);
		assert_int_equal(params.mpu, rows[i].mpu);
	}
}

static void overhead_and_mpu_adjust_a_preset(void **state)
{
	const char *values[N_PARAMS] = {
		[PARAM_PPPOE_PTM] = "",
		[PARAM_OVERHEAD] = "34",
		[PARAM_MPU] = "70",
	};
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX], text[OPTION_TEXT_MAX];

	(void)state;
	assert_true(params_apply(values, &params, why));
	assert_int_equal(params.framing, DUALPI2_FRAMING_PTM);
	assert_int_equal(params.overhead, 34);
	assert_int_equal(params.mpu, 70);
	assert_string_equal(params_text(PARAM_OVERHEAD, &params, text), "overhead 34 ptm");
}

/* It is counted from the IP header on; a framing that is so already stays. */
static void overhead_leaves_raw(void **state)
{
	struct dualpi2_params params = apply_one(PARAM_OVERHEAD, "-4");
	char text[OPTION_TEXT_MAX];

	(void)state;
	assert_int_equal(params.framing, DUALPI2_FRAMING_NETWORK);
	assert_int_equal(params.overhead, -4);
	assert_string_equal(params_text(PARAM_OVERHEAD, &params, text), "overhead -4");
	assert_true(params_differ(PARAM_OVERHEAD, &params));
	params = apply_one(PARAM_OVERHEAD, "0");
	assert_true(params_differ(PARAM_OVERHEAD, &params));
	params = apply_one(PARAM_PPPOE_PTM, "");
	param_specs[PARAM_OVERHEAD].set("22", &params);
	assert_int_equal(params.framing, DUALPI2_FRAMING_PTM);
}

static void raw_has_no_overhead(void **state)
{
	const char *values[N_PARAMS] = { [PARAM_RAW] = "", [PARAM_OVERHEAD] = "0" };
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX];

	(void)state;
	assert_false(params_apply(values, &params, why));
	assert_string_equal(why, "--overhead 0: excludes --raw: give one of them");
}

/* ---- RTTs ---------------------------------------------------------------------- */

/* What iproute2's q_dualpi2.c computes, in its mix of float and double. */
static void rtts_choose_as_tc_does(void **state)
{
	static const struct {
		const char *max, *typical;
		unsigned int target_us, tupdate_us, alpha, beta;
	} rows[] = {
		{ "100ms", "15ms", 15000, 15000, 38, 768 },
		{ "100ms", NULL, 16666, 16666, 42, 768 },
		{ NULL, "15ms", 15000, 15000, 47, 853 },
		{ "10ms", "10ms", 10000, 3333, 853, 7680 }, /* tupdate is max / 3 */
		{ "300ms", "100001us", 100001, 100000, 28, 256 },
		{ "50ms", NULL, 8333, 8333, 85, 1536 },
		{ "1.0009ms", "1.0009ms", 1000, 333, 8524, 76800 }, /* whole us */
		{ "10us", NULL, 1, 1, 256000, 7680000 },
		/* 0.3f is a little more than 0.3, which would give 338325. */
		{ "227us", NULL, 37, 37, 18381, 338326 },
		{ "8533ms", "8533ms", 8533000, 2844333, 1, 9 },
		{ "4266666us", NULL, 711111, 711111, 1, 18 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *values[N_PARAMS] = {
			[PARAM_MAX_RTT] = rows[i].max,
			[PARAM_TYPICAL_RTT] = rows[i].typical,
			/* overridden */
			[PARAM_TARGET] = "1s",
			[PARAM_ALPHA] = "1",
		};
		struct dualpi2_params params = defaults;
		char why[PARAMS_WHY_MAX];

		assert_true(params_apply(values, &params, why));
		assert_int_equal(aqm_own(&params)->target_ns, 1000ULL * rows[i].target_us);
		assert_int_equal(aqm_own(&params)->tupdate_ns, 1000ULL * rows[i].tupdate_us);
		assert_int_equal(aqm_own(&params)->alpha, rows[i].alpha);
		assert_int_equal(aqm_own(&params)->beta, rows[i].beta);
	}
}

static void rtts_that_make_no_sense(void **state)
{
	static const struct {
		const char *max, *typical, *why;
	} rows[] = {
		{ "10ms", "20ms", "--typical-rtt 20ms: above --max-rtt 10ms" },
		{ "4266667us", NULL,
		  "--max-rtt 4266667us: too high: alpha would be below 1/256 Hz, its lowest" },
		{ "8533333us", "8533333us",
		  "--max-rtt 8533333us: too high: alpha would be below 1/256 Hz, its lowest" },
		{ NULL, "4000s",
		  "--typical-rtt 4000s: too high: alpha would be below 1/256 Hz, its lowest" },
		{ "9us", NULL,
		  "--max-rtt 9us: too low: beta would be above 32767.996094 Hz, its highest" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *values[N_PARAMS] = {
			[PARAM_MAX_RTT] = rows[i].max,
			[PARAM_TYPICAL_RTT] = rows[i].typical,
		};
		struct dualpi2_params params = defaults;
		char why[PARAMS_WHY_MAX];

		assert_false(params_apply(values, &params, why));
		assert_string_equal(why, rows[i].why);
	}
}

/* ---- DSCPs --------------------------------------------------------------------- */

/* On one command line, and on one and in a live qdisc. */
static void a_dscp_is_in_one_list(void **state)
{
	const char *values[N_PARAMS] = {
		[PARAM_L4S_DSCP] = "ef,nqb,40",
		[PARAM_CLASSIC_DSCP] = "le,nqb,ef",
	};
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX];

	(void)state;
	assert_false(params_apply(values, &params, why));
	assert_string_equal(
		why, "--l4s-dscp, --classic-dscp: both would have nqb,ef: take it out of one");

	params = apply_one(PARAM_CLASSIC_DSCP, "le,nqb");
	values[PARAM_CLASSIC_DSCP] = NULL;
	assert_false(params_apply(values, &params, why));
	values[PARAM_CLASSIC_DSCP] = "none";
	params = apply_one(PARAM_CLASSIC_DSCP, "le,nqb");
	assert_true(params_apply(values, &params, why));
	assert_int_equal(params.classic_dscp, 0);
}

/* ---- what is told -------------------------------------------------------------- */

static void described_as_given(void **state)
{
	const char *values[N_PARAMS] = { [PARAM_MAX_RTT] = "100ms", [PARAM_ANY_ECT] = "" };
	struct dualpi2_params params = defaults;
	char why[PARAMS_WHY_MAX], text[256];

	(void)state;
	assert_true(params_apply(values, &params, why));
	assert_string_equal(params_describe(values, &params, text, sizeof(text)),
			    ", max-rtt 100ms, typical-rtt 16.666ms, target 16.666ms, "
			    "tupdate 16.666ms, alpha 0.164062, beta 3.000000, any-ect");
	params_describe(values, &params, text, 12);
	assert_string_equal(text, ", max-rtt 1"); /* cut */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_native),
		cmocka_unit_test(memlimit_is_twice_the_full_packets),
		cmocka_unit_test(memlimit_given_is_in_force),
		cmocka_unit_test(drops_are_all_drop_counters),
		cmocka_unit_test(ranges),
		cmocka_unit_test(every_value_has_a_range),
		cmocka_unit_test(each_option_sets_its_member),
		cmocka_unit_test(flags_take_back),
		cmocka_unit_test(all_dscps_fit_the_text),
		cmocka_unit_test(step_in_packets_and_back),
		cmocka_unit_test(p_cmax_ends_at_one_and_can_be_auto),
		cmocka_unit_test(limit_alone_renews_memlimit),
		cmocka_unit_test(presets_of_links),
		cmocka_unit_test(overhead_and_mpu_adjust_a_preset),
		cmocka_unit_test(overhead_leaves_raw),
		cmocka_unit_test(raw_has_no_overhead),
		cmocka_unit_test(rtts_choose_as_tc_does),
		cmocka_unit_test(rtts_that_make_no_sense),
		cmocka_unit_test(a_dscp_is_in_one_list),
		cmocka_unit_test(described_as_given),
	};

	defaults = params_default();
	return RUN_TESTS(tests);
}
