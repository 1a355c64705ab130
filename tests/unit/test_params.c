// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters and counters: include/dualpi2.h, and the option table of
 * user/params.c with its ranges.
 */
#include <string.h>

#include "aqm/pi2.h"
#include "dualpi2.h"
#include "aqm/params.h" /* before unit.h: cmocka has a macro fail(), we have a function */

#include "unit.h"

/* Set by main(). */
static const struct aqm *aqm;
static struct dualpi2_params defaults;

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
#define SET(type, member, unit, ...)                                   \
	*counter++ = worth;                                            \
	if (!strncmp(#member, "drop_", 5) && !strcmp(unit, "packets")) \
		expected += worth;                                     \
	worth *= 2;
	DUALPI2_QUEUE_COUNTERS(SET)
#undef SET
	assert_int_equal(dualpi2_drops(&counters), expected);
}

/* The row of an option, of all AQMs or of the one that is tested. */
static const struct option_spec *row(const char *option)
{
	const struct option_spec *spec;

	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		if (spec->name && !strcmp(spec->name, option))
			return spec;
	}
	fail_msg("there is no --%s", option);
	return NULL;
}

struct pair {
	const char *option, *text;
};

/* What was given for all parameters. */
struct table {
	struct option_given given[PARAMS_MAX];
};

/* As if these pairs, up to one without an option, were the command line. */
static struct table given(const struct pair *pairs)
{
	struct table table = {};

	for (; pairs->option; pairs++) {
		struct option_given *one = table.given;

		row(pairs->option); /* fails if there is none */
		for (const struct option_spec *spec = params_all(); option_exists(spec);
		     spec++, one++) {
			if (!spec->name || strcmp(spec->name, pairs->option) || !pairs->text)
				continue;
			*one = (struct option_given){ .text = pairs->text, .value = spec->value };
			one->is_read = !value_is_taken(spec) ||
				       value_read(spec, one->text, &one->value) == VALUE_OK;
		}
	}
	return table;
}

#define GIVEN(...) given((const struct pair[]){ __VA_ARGS__, { NULL, NULL } })

static void apply(const struct table *values, struct dualpi2_params *params)
{
	char why[PARAMS_WHY_MAX];

	if (!params_apply(values->given, aqm, params, why))
		fail_msg("%s", why);
}

static void assert_refused(const struct table *values, struct dualpi2_params params,
			   const char *reason)
{
	char why[PARAMS_WHY_MAX];

	assert_false(params_apply(values->given, aqm, &params, why));
	assert_string_equal(why, reason);
}

static const char *shown(const char *option, const struct dualpi2_params *params)
{
	static char text[OPTION_TEXT_MAX];

	return params_text(row(option), params, text);
}

/* The edges of every range, both sides. */
static void ranges(void **state)
{
	static const struct {
		const char *option;
		const char *text;
		enum value_status status;
	} rows[] = {
		{ "rate", "0", VALUE_OK },
		{ "rate", "8kbit", VALUE_OK },
		{ "rate", "7999bit", VALUE_OUT_OF_RANGE },
		{ "rate", "1tbit", VALUE_OK },
		{ "rate", "1.1tbit", VALUE_OUT_OF_RANGE },
		{ "rate", "40mb", VALUE_MALFORMED },
		{ "target", "0", VALUE_OK },
		{ "target", "4294967295us", VALUE_OK },
		{ "target", "4294967296us", VALUE_OUT_OF_RANGE },
		{ "target", "-1ms", VALUE_MALFORMED },
		{ "tupdate", "0", VALUE_OUT_OF_RANGE },
		{ "tupdate", "0.999us", VALUE_OUT_OF_RANGE },
		{ "tupdate", "1us", VALUE_OK },
		{ "alpha", "0", VALUE_OUT_OF_RANGE },
		{ "alpha", "0.00391", VALUE_OK },
		{ "alpha", "32767.99609375", VALUE_OK },
		{ "beta", "32768", VALUE_OUT_OF_RANGE },
		{ "beta", "3.2hz", VALUE_MALFORMED },
		{ "coupling-factor", "0", VALUE_OUT_OF_RANGE },
		{ "coupling-factor", "1", VALUE_OK },
		{ "coupling-factor", "255", VALUE_OK },
		{ "coupling-factor", "256", VALUE_OUT_OF_RANGE },
		{ "coupling-factor", "4294967298", VALUE_OUT_OF_RANGE },
		{ "step-thresh", "0", VALUE_OK },
		{ "step-thresh", "4294967295p", VALUE_OK },
		{ "step-thresh", "4294967296p", VALUE_OUT_OF_RANGE },
		{ "step-thresh", "1.5p", VALUE_MALFORMED },
		{ "classic-protection", "0", VALUE_OK },
		{ "classic-protection", "100%", VALUE_OK },
		{ "classic-protection", "101", VALUE_OUT_OF_RANGE },
		{ "classic-protection", "10.5", VALUE_MALFORMED },
		{ "limit", "0", VALUE_OUT_OF_RANGE },
		{ "limit", "1", VALUE_OK },
		{ "limit", "8388608", VALUE_OK },
		{ "limit", "8388609", VALUE_OUT_OF_RANGE },
		{ "limit", "99999999999999999999999", VALUE_OUT_OF_RANGE },
		{ "memlimit", "0", VALUE_OUT_OF_RANGE },
		{ "memlimit", "1", VALUE_OK },
		{ "memlimit", "4294967295", VALUE_OK },
		{ "memlimit", "4g", VALUE_OUT_OF_RANGE },
		{ "min-qlen-step", "0", VALUE_OK },
		{ "min-qlen-step", "4294967295", VALUE_OK },
		{ "min-qlen-step", "4294967296", VALUE_OUT_OF_RANGE },
		{ "min-qlen-step", "5p", VALUE_MALFORMED },
		{ "max-rtt", "0.999us", VALUE_OUT_OF_RANGE },
		{ "max-rtt", "1us", VALUE_OK },
		{ "typical-rtt", "4294967295us", VALUE_OK },
		{ "typical-rtt", "4295s", VALUE_OUT_OF_RANGE },
		{ "overhead", "-65", VALUE_OUT_OF_RANGE },
		{ "overhead", "-64", VALUE_OK },
		{ "overhead", "256", VALUE_OK },
		{ "overhead", "257", VALUE_OUT_OF_RANGE },
		{ "overhead", "65536", VALUE_OUT_OF_RANGE },
		{ "overhead", "1k", VALUE_MALFORMED },
		{ "mpu", "0", VALUE_OK },
		{ "mpu", "256", VALUE_OK },
		{ "mpu", "257", VALUE_OUT_OF_RANGE },
		{ "mpu", "65536", VALUE_OUT_OF_RANGE },
		{ "mpu", "-1", VALUE_MALFORMED },
		{ "l-aqm", "ramp", VALUE_OK },
		{ "l-aqm", "step", VALUE_OK },
		{ "l-aqm", "ramps", VALUE_MALFORMED },
		{ "p-cmax", "0", VALUE_OUT_OF_RANGE },
		{ "p-cmax", "0.00000001", VALUE_OUT_OF_RANGE },
		{ "p-cmax", "0.00000003%", VALUE_OK },
		{ "p-cmax", "100%", VALUE_OK },
		{ "p-cmax", "100.000001%", VALUE_OUT_OF_RANGE },
		{ "p-cmax", "1/4", VALUE_MALFORMED },
		{ "l4s-dscp", "63", VALUE_OK },
		{ "l4s-dscp", "64", VALUE_MALFORMED },
		{ "classic-dscp", "le,ef", VALUE_OK },
		{ "classic-dscp", "best", VALUE_MALFORMED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value;
		enum value_status status = value_read(row(rows[i].option), rows[i].text, &value);

		if (status != rows[i].status)
			print_error("--%s %s\n", rows[i].option, rows[i].text);
		assert_int_equal(status, rows[i].status);
	}
}

/* Every option with a value tells what it has to be, and gives a good example. */
static void every_value_is_explained(void **state)
{
	const struct option_spec *spec;

	(void)state;
	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		char text[OPTION_TEXT_MAX];
		uint64_t value;

		if (!spec->name)
			continue;
		assert_non_null(spec->help);
		if (!value_is_taken(spec))
			continue;
		assert_non_null(value_argument(spec));
		assert_int_equal(value_read(spec, "", &value), VALUE_MALFORMED);
		assert_true(*value_range(spec, text));
		/* "1ms or 5p": a word of it */
		assert_int_equal(value_read(spec, strtok(strdupa(value_example(spec, text)), " "),
					    &value),
				 VALUE_OK);
	}
}

/* What a range says is what is checked. */
static void ranges_in_words(void **state)
{
	static const struct {
		const char *option, *range, *example;
	} rows[] = {
		{ "rate", "0, or 8kbit to 1tbit", "40mbit" },
		{ "overhead", "-64 to 256", "44" },
		{ "mpu", "0 to 256", "64" },
		{ "target", "0us to 4294s", "15ms" },
		{ "tupdate", "1us to 4294s", "16ms" },
		{ "alpha", "0.003906 to 32767.996094", "0.160156" },
		{ "max-rtt", "1us to 4294s", "15ms" },
		{ "coupling-factor", "1 to 255", "2" },
		{ "step-thresh", "0us to 4294s or 0p to 4294967295p", "1ms or 5p" },
		{ "min-qlen-step", "0 to 4294967295", "5" },
		{ "classic-protection", "0 to 100", "10" },
		{ "limit", "1 to 8388608", "10000" },
		{ "memlimit", "1 to 4294967295", "30m" },
		{ "l-aqm", "step or ramp", "step" },
		{ "p-cmax", "above 0 to 100, or auto", "25%" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[OPTION_TEXT_MAX];

		assert_string_equal(value_range(row(rows[i].option), text), rows[i].range);
		assert_string_equal(value_example(row(rows[i].option), text), rows[i].example);
	}
}

/* What an option given alone makes of the defaults. */
static struct dualpi2_params apply_one(const char *option, const char *text)
{
	const struct table values = GIVEN({ option, text });
	struct dualpi2_params params = defaults;

	apply(&values, &params);
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
		const char *option;
		const char *text;
		const char *shown;
		size_t offset, size;
		uint64_t number;
	} rows[] = {
		{ "rate", "40mbit", "rate 40mbit", MEMBER(rate, 5000000) },
		{ "mpu", "64", "mpu 64", MEMBER(mpu, 64) },
		{ "target", "5ms", "target 5ms", AQM_MEMBER(target_ns, 5000000) },
		{ "tupdate", "6ms", "tupdate 6ms", AQM_MEMBER(tupdate_ns, 6000000) },
		{ "alpha", "0.15625", "alpha 0.156250", AQM_MEMBER(alpha, 40) },
		{ "beta", "3.125", "beta 3.125000", AQM_MEMBER(beta, 800) },
		{ "coupling-factor", "4", "coupling-factor 4", MEMBER(coupling, 4) },
		{ "step-thresh", "700us", "step-thresh 700us", MEMBER(step_ns, 700000) },
		{ "min-qlen-step", "7", "min-qlen-step 7", MEMBER(min_qlen_step, 7) },
		{ "classic-protection", "25%", "classic-protection 25%",
		  MEMBER(classic_protection, 25) },
		{ "limit", "1234", "limit 1234p", MEMBER(limit, 1234) },
		{ "memlimit", "2m", "memlimit 2097152b", MEMBER(memlimit, 2 << 20) },
		{ "overflow", "", "overflow", MEMBER(overflow, 1) },
		{ "drop-enqueue", "", "drop-enqueue", MEMBER(drop_enqueue, 1) },
		{ "any-ect", "", "any-ect", MEMBER(ecn_mask, DUALPI2_ECN_ANY_ECT) },
		{ "no-l4s", "", "no-l4s", MEMBER(ecn_mask, DUALPI2_ECN_NO_L4S) },
		{ "l4s-dscp", "ef,nqb,50", "l4s-dscp nqb,ef,50",
		  MEMBER(l4s_dscp, 1ULL << 45 | 1ULL << 46 | 1ULL << 50) },
		{ "classic-dscp", "le", "classic-dscp le", MEMBER(classic_dscp, 2) },
		{ "l-aqm", "ramp", "l-aqm ramp", MEMBER(l_aqm, DUALPI2_L_RAMP) },
		{ "p-cmax", "12.5%", "p-cmax 12.5%", MEMBER(p_cmax, 1U << 29) },
		{ "p-cmax", "6%", "p-cmax 6%", MEMBER(p_cmax, 257698037) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dualpi2_params params = apply_one(rows[i].option, rows[i].text);
		struct dualpi2_params expected = defaults;
		const struct option_spec *other;

		store(&expected, rows[i].offset, rows[i].size, rows[i].number);
		if (memcmp(&params, &expected, sizeof(params)))
			print_error("%s\n", rows[i].shown);
		assert_memory_equal(&params, &expected, sizeof(params));
		assert_string_equal(shown(rows[i].option, &params), rows[i].shown);
		/* It alone is told to differ from the defaults. */
		for (size_t n = 0; (other = params_row(aqm, n)); n++)
			assert_int_equal(params_differ(other, &params),
					 other == row(rows[i].option));
	}
}

/* The other spelling of each pair takes back what the first one set. */
static void flags_take_back(void **state)
{
	static const char *const pairs[][2] = {
		{ "overflow", "drop-on-overload" },
		{ "drop-enqueue", "drop-dequeue" },
		{ "any-ect", "l4s-ect" },
		{ "no-l4s", "l4s-ect" },
		{ "pppoe-ptm", "raw" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct option_spec *there = row(pairs[i][0]), *back = row(pairs[i][1]);
		const struct table taken_back = GIVEN({ pairs[i][1], "" });
		struct dualpi2_params params = apply_one(pairs[i][0], "");

		assert_int_equal(there->slot, back->slot);
		if (there->kind == KIND_SWITCH)
			assert_string_equal(params_flag(there, &params), there->name);
		apply(&taken_back, &params);
		assert_memory_equal(&params, &defaults, sizeof(params));
		if (there->kind == KIND_SWITCH)
			assert_string_equal(params_flag(there, &params), back->name);
	}
}

static void all_dscps_fit_the_text(void **state)
{
	struct dualpi2_params params = { .l4s_dscp = UINT64_MAX };
	char text[OPTION_TEXT_MAX];
	uint64_t read;

	(void)state;
	value_show(row("l4s-dscp"), params.l4s_dscp, text);
	assert_int_equal(value_read(row("l4s-dscp"), text, &read), VALUE_OK);
	assert_int_equal(read, UINT64_MAX);
	params.l4s_dscp = 0;
	assert_string_equal(shown("l4s-dscp", &params), "l4s-dscp none");
}

static void step_in_packets_and_back(void **state)
{
	const struct table back = GIVEN({ "step-thresh", "2ms" });
	struct dualpi2_params params = apply_one("step-thresh", "5pkt");

	(void)state;
	assert_int_equal(params.step_in_packets, 1);
	assert_int_equal(params.step_packets, 5);
	assert_string_equal(shown("step-thresh", &params), "step-thresh 5p");
	apply(&back, &params);
	assert_int_equal(params.step_in_packets, 0);
	assert_int_equal(params.step_ns, 2000000);
}

/* Unlike p-cmax, of which 0 stands for a rule. */
static void share_of_nothing_is_shown_as_such(void **state)
{
	const struct option_spec share = { .kind = KIND_SHARE, .min = 0, .max = 1LL << 32 };
	char text[OPTION_TEXT_MAX];

	(void)state;
	assert_string_equal(value_format(&share, 0, text), "0%");
	assert_string_equal(value_format(&share, PROB_MAX, text), "100%");
}

static void p_cmax_ends_at_one_and_can_be_auto(void **state)
{
	const struct table automatic = GIVEN({ "p-cmax", "auto" });
	struct dualpi2_params params = apply_one("p-cmax", "100");

	(void)state;
	assert_int_equal(params.p_cmax, UINT32_MAX);
	assert_string_equal(shown("p-cmax", &params), "p-cmax 100%");
	apply(&automatic, &params);
	assert_int_equal(params.p_cmax, 0);
	assert_string_equal(shown("p-cmax", &params), "p-cmax auto");
	assert_string_equal(shown("p-cmax", &defaults), "p-cmax auto");
}

/* As dualpi2_change() of native has it. */
static void limit_alone_renews_memlimit(void **state)
{
	const struct table limit = GIVEN({ "limit", "50" });
	const struct table both = GIVEN({ "limit", "50" }, { "memlimit", "1000" });
	struct dualpi2_params params = defaults;

	(void)state;
	params.memlimit = 12345;
	apply(&limit, &params);
	assert_int_equal(params.limit, 50);
	assert_int_equal(params.memlimit, 0);
	apply(&both, &params);
	assert_int_equal(params.memlimit, 1000);
}

/* ---- the link ------------------------------------------------------------------ */

/* The figures of tc-cake(8). */
static void presets_of_links(void **state)
{
	static const struct {
		const char *option;
		int framing, overhead, mpu;
	} rows[] = {
		{ "raw", DUALPI2_FRAMING_RAW, 0, 0 },
		{ "ethernet", DUALPI2_FRAMING_NETWORK, 38, 84 },
		{ "docsis", DUALPI2_FRAMING_NETWORK, 18, 64 },
		{ "pppoe-ptm", DUALPI2_FRAMING_PTM, 30, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dualpi2_params params = apply_one(rows[i].option, "");

		assert_int_equal(params.framing, rows[i].framing);
		assert_int_equal(params.overhead, rows[i].overhead);
		assert_int_equal(params.mpu, rows[i].mpu);
	}
}

static void overhead_and_mpu_adjust_a_preset(void **state)
{
	const struct table values =
		GIVEN({ "mpu", "70" }, { "pppoe-ptm", "" }, { "overhead", "34" });
	struct dualpi2_params params = defaults;

	(void)state;
	apply(&values, &params);
	assert_int_equal(params.framing, DUALPI2_FRAMING_PTM);
	assert_int_equal(params.overhead, 34);
	assert_int_equal(params.mpu, 70);
	assert_string_equal(shown("overhead", &params), "overhead 34 ptm");
}

/* It is counted from the IP header on; a framing that is so already stays. */
static void overhead_leaves_raw(void **state)
{
	const struct table more = GIVEN({ "overhead", "22" });
	struct dualpi2_params params = apply_one("overhead", "-4");

	(void)state;
	assert_int_equal(params.framing, DUALPI2_FRAMING_NETWORK);
	assert_int_equal(params.overhead, -4);
	assert_string_equal(shown("overhead", &params), "overhead -4");
	assert_true(params_differ(row("overhead"), &params));
	params = apply_one("overhead", "0");
	assert_true(params_differ(row("overhead"), &params));
	params = apply_one("pppoe-ptm", "");
	apply(&more, &params);
	assert_int_equal(params.framing, DUALPI2_FRAMING_PTM);
}

static void raw_has_no_overhead(void **state)
{
	const struct table values = GIVEN({ "raw", "" }, { "overhead", "0" });

	(void)state;
	assert_refused(&values, defaults, "--overhead 0: excludes --raw: give one of them");
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
		const struct table values =
			GIVEN({ "max-rtt", rows[i].max }, { "typical-rtt", rows[i].typical });
		struct dualpi2_params params = defaults;

		apply(&values, &params);
		assert_int_equal(aqm_own(&params)->target_ns, 1000ULL * rows[i].target_us);
		assert_int_equal(aqm_own(&params)->tupdate_ns, 1000ULL * rows[i].tupdate_us);
		assert_int_equal(aqm_own(&params)->alpha, rows[i].alpha);
		assert_int_equal(aqm_own(&params)->beta, rows[i].beta);
	}
}

static void rtts_override_nothing_in_silence(void **state)
{
	const struct table target = GIVEN({ "max-rtt", "100ms" }, { "target", "1s" });
	const struct table alpha = GIVEN({ "alpha", "1" }, { "typical-rtt", "15ms" });
	const struct table agreed =
		GIVEN({ "max-rtt", "100ms" }, { "typical-rtt", "15ms" }, { "target", "15ms" });
	struct dualpi2_params params = defaults;

	(void)state;
	assert_refused(&target, defaults, "--target 1s: --max-rtt sets it, too: give one of them");
	assert_refused(&alpha, defaults, "--alpha 1: --typical-rtt sets it, too: give one of them");
	apply(&agreed, &params);
	assert_int_equal(aqm_own(&params)->target_ns, 15000000);
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
		const struct table values =
			GIVEN({ "max-rtt", rows[i].max }, { "typical-rtt", rows[i].typical });

		assert_refused(&values, defaults, rows[i].why);
	}
}

/* ---- DSCPs --------------------------------------------------------------------- */

/* On one command line, and on one and in a live qdisc. */
static void a_dscp_is_in_one_list(void **state)
{
	const struct table l4s = GIVEN({ "l4s-dscp", "ef,nqb,40" });
	const struct table both =
		GIVEN({ "l4s-dscp", "ef,nqb,40" }, { "classic-dscp", "le,nqb,ef" });
	const struct table moved = GIVEN({ "l4s-dscp", "ef,nqb,40" }, { "classic-dscp", "none" });
	struct dualpi2_params params = apply_one("classic-dscp", "le,nqb");

	(void)state;
	assert_refused(&both, defaults,
		       "--l4s-dscp, --classic-dscp: both would have nqb,ef: take it out of one");
	assert_refused(&l4s, params,
		       "--l4s-dscp, --classic-dscp: both would have nqb: take it out of one");
	apply(&moved, &params);
	assert_int_equal(params.classic_dscp, 0);
}

/* ---- what is told -------------------------------------------------------------- */

static void described_as_given(void **state)
{
	const struct table values = GIVEN({ "max-rtt", "100ms" }, { "any-ect", "" });
	struct dualpi2_params params = defaults;
	char text[256];

	(void)state;
	apply(&values, &params);
	assert_string_equal(params_describe(values.given, false, aqm, &params, text, sizeof(text)),
			    ", max-rtt 100ms, typical-rtt 16.666ms, target 16.666ms, "
			    "tupdate 16.666ms, alpha 0.164062, beta 3.000000, any-ect");
	params_describe(values.given, false, aqm, &params, text, 12);
	assert_string_equal(text, ", max-rtt 1"); /* cut */
	assert_string_equal(params_describe(params_none, true, aqm, &params, text, sizeof(text)),
			    ", rate unlimited, target 16.666ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_native),
		cmocka_unit_test(memlimit_is_twice_the_full_packets),
		cmocka_unit_test(memlimit_given_is_in_force),
		cmocka_unit_test(drops_are_all_drop_counters),
		cmocka_unit_test(ranges),
		cmocka_unit_test(every_value_is_explained),
		cmocka_unit_test(ranges_in_words),
		cmocka_unit_test(each_option_sets_its_member),
		cmocka_unit_test(flags_take_back),
		cmocka_unit_test(all_dscps_fit_the_text),
		cmocka_unit_test(step_in_packets_and_back),
		cmocka_unit_test(share_of_nothing_is_shown_as_such),
		cmocka_unit_test(p_cmax_ends_at_one_and_can_be_auto),
		cmocka_unit_test(limit_alone_renews_memlimit),
		cmocka_unit_test(presets_of_links),
		cmocka_unit_test(overhead_and_mpu_adjust_a_preset),
		cmocka_unit_test(overhead_leaves_raw),
		cmocka_unit_test(raw_has_no_overhead),
		cmocka_unit_test(rtts_choose_as_tc_does),
		cmocka_unit_test(rtts_override_nothing_in_silence),
		cmocka_unit_test(rtts_that_make_no_sense),
		cmocka_unit_test(a_dscp_is_in_one_list),
		cmocka_unit_test(described_as_given),
	};

	aqm = aqm_default();
	defaults = params_default(aqm);
	return RUN_TESTS(tests);
}
