// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/params.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "aqm/member.h"

#define ROW_STRUCT struct dualpi2_params
#define ROW_START 0
#define ROW_AQM NULL

/* Those of an AQM stand between these, as tc has it. */
static const struct option_spec limits[] = {
#define ROW_HEADING PARAMS_TC
	DUALPI2_LIMITS(ROW_PARAM, ROW_CHOICE, ROW_FLAG){},
};
static const struct option_spec others[] = {
	DUALPI2_QUEUES(ROW_PARAM, ROW_CHOICE, ROW_FLAG)
#undef ROW_HEADING
#define ROW_HEADING PARAMS_SHAPER
		DUALPI2_SHAPER(ROW_PARAM, ROW_CHOICE, ROW_FLAG)
#undef ROW_HEADING
#define ROW_HEADING PARAMS_OWN
			DUALPI2_OWN(ROW_PARAM, ROW_CHOICE, ROW_FLAG){},
};

/* ---- rows and members ------------------------------------------------------------ */

static struct option_spec *append(struct option_spec *end, const struct option_spec *rows)
{
	while (option_exists(rows))
		*end++ = *rows++;
	return end;
}

const struct option_spec *params_all(void)
{
	static struct option_spec all[PARAMS_MAX];
	struct option_spec *end = all;

	if (option_exists(all))
		return all;
	end = append(end, limits);
	for (size_t i = 0; aqm_is_listed(i); i++)
		end = append(end, aqms[i]->options);
	append(end, others);
	return all;
}

/* Is it one of this AQM's own? NULL: of none. */
static bool is_own(const struct option_spec *spec, const struct aqm *aqm)
{
	return spec->aqm == aqm_proper(aqm);
}

/* Is it for this AQM? What is no parameter, nor an AQM's, is for none. */
static bool is_for(const struct option_spec *spec, const struct aqm *aqm)
{
	return spec->aqm ? is_own(spec, aqm) : spec->size;
}

const struct option_spec *params_row(const struct aqm *aqm, size_t i)
{
	const struct option_spec *spec = params_all();

	for (; option_exists(spec); spec++) {
		if (is_for(spec, aqm) && !i--)
			return spec;
	}
	return NULL;
}

bool params_row_is_first(const struct option_spec *spec)
{
	return spec->aqm || !strcmp(spec->heading, PARAMS_TC);
}

static uint64_t get(const struct option_spec *spec, const struct dualpi2_params *params)
{
	return member_get(params, spec->offset, spec->size);
}

uint64_t params_value(const struct option_spec *spec, const struct dualpi2_params *params)
{
	switch (spec->kind) {
	case KIND_STEP:
		return params->step_in_packets ? params->step_packets | STEP_IN_PACKETS
					       : params->step_ns;
	case KIND_OVERHEAD:
		return (uint64_t)params->framing << 16 | (uint16_t)params->overhead;
	default:
		return get(spec, params);
	}
}

/* Put a value in force, and what goes with it. */
static void set(const struct option_spec *spec, uint64_t value, struct dualpi2_params *params)
{
	switch (spec->kind) {
	case KIND_STEP:
		params->step_in_packets = value >= STEP_IN_PACKETS;
		if (params->step_in_packets)
			params->step_packets = (uint32_t)value;
		else
			params->step_ns = value;
		break;
	case KIND_OVERHEAD:
		params->overhead = (int16_t)value;
		if (params->framing == DUALPI2_FRAMING_RAW)
			params->framing = DUALPI2_FRAMING_NETWORK;
		break;
	case KIND_PRESET:
		params->framing = value >> 16;
		params->overhead = value >> 8 & 0xff;
		params->mpu = value & 0xff;
		break;
	default:
		member_set(params, spec->offset, spec->size, value);
	}
}

struct dualpi2_params params_default(const struct aqm *aqm)
{
	struct dualpi2_params params = {};
	const struct option_spec *spec;

	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		if (spec->size && !option_is_flag(spec))
			member_set(&params, spec->offset, spec->size, spec->value);
	}
	return params;
}

const struct option_given params_none[PARAMS_MAX];

bool params_given(const struct option_given *given)
{
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++, given++) {
		if (given->text)
			return true;
	}
	return false;
}

/* `spec`: a row of params_all(). */
static const struct option_given *given_for(const struct option_given *given,
					    const struct option_spec *spec)
{
	return &given[spec - params_all()];
}

const struct option_given *param_given(const struct option_given *given, const char *name)
{
	return given_for(given, option_named(params_all(), name));
}

/* ---- rules between options ------------------------------------------------------- */

/* The option of this AQM that has the name of another one's; NULL: it has none. */
static const struct option_spec *namesake(const struct aqm *aqm, const char *name)
{
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++) {
		if (is_own(spec, aqm) && spec->name && !strcmp(spec->name, name))
			return spec;
	}
	return NULL;
}

/* Options of other AQMs than this one, or out of its range. */
static bool aqm_agrees(const struct option_given *given, const struct aqm *aqm, char *why)
{
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++) {
		const char *const text = given_for(given, spec)->text;
		const struct option_spec *same;
		char range[OPTION_TEXT_MAX];

		if (!spec->aqm || !text)
			continue;
		same = namesake(aqm, spec->name);
		if (!same)
			return params_refuse(why, "--%s%s%s: is not for the AQM %s: give --aqm %s",
					     spec->name, *text ? " " : "", text, aqm->name,
					     spec->aqm->name);
		if (!given_for(given, same)->is_read)
			return params_refuse(why, "--%s %s: not for the AQM %s (%s)", spec->name,
					     text, aqm->name, value_range(same, range));
	}
	return true;
}

/* Values that contradict each other. */
static bool values_agree(const struct option_given *given, const struct dualpi2_params *params,
			 char *why)
{
	const char *overhead = param_given(given, "overhead")->text;
	const uint64_t both = params->l4s_dscp & params->classic_dscp;
	char text[OPTION_TEXT_MAX];

	if (param_given(given, "raw")->text && overhead)
		return params_refuse(why, "--overhead %s: excludes --raw: give one of them",
				     overhead);
	if (both)
		return params_refuse(
			why, "--l4s-dscp, --classic-dscp: both would have %s: take it out of one",
			value_format(option_named(params_all(), "l4s-dscp"), both, text));
	return true;
}

/* Read the options of an AQM that set several parameters. How many there are; 0 if none of them
 * was given.
 */
static size_t read_derived(const struct option_given *given, const struct aqm *aqm,
			   struct aqm_derived derived[])
{
	bool any = false;
	size_t count = 0;

	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++, given++) {
		if (!is_own(spec, aqm) || spec->size || !value_is_taken(spec))
			continue;
		derived[count++] = (struct aqm_derived){
			.spec = spec,
			.given = given->text,
			.value = given->value,
		};
		any |= given->text != NULL;
	}
	return any ? count : 0;
}

/* Put in force what an option stands for: "min-th 0us smoothing 5". */
static void set_words(const struct aqm *aqm, const char *words, struct dualpi2_params *params)
{
	char name[32], text[32];
	int length;

	for (; sscanf(words, "%31s %31s%n", name, text, &length) == 2; words += length) {
		const struct option_spec *own = namesake(aqm, name);
		const struct option_spec *spec = own ?: option_named(params_all(), name);
		uint64_t value;

		if (value_read(spec, text, &value) == VALUE_OK)
			set(spec, value, params);
	}
}

/* Has an option that sets several parameters changed one that was given as well? */
static bool overrides_agree(const struct option_given *given, const struct aqm *aqm,
			    const struct aqm_derived derived[], const struct dualpi2_params *params,
			    char *why)
{
	while (!derived->given)
		derived++;
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++, given++) {
		if (!given->text || !spec->size || !is_own(spec, aqm) || !value_is_taken(spec) ||
		    get(spec, params) == given->value)
			continue;
		return params_refuse(why, "--%s %s: --%s sets it, too: give one of them",
				     spec->name, given->text, derived->spec->name);
	}
	return true;
}

bool params_apply(const struct option_given *given, const struct aqm *aqm,
		  struct dualpi2_params *params, char *why)
{
	struct aqm_derived derived[AQM_OPTIONS_MAX];

	if (!aqm_agrees(given, aqm, why))
		return false;
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++) {
		if (given_for(given, spec)->text && spec->kind == KIND_OPTIONS && is_for(spec, aqm))
			set_words(aqm, spec->words, params);
	}
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++) {
		const struct option_given *one = given_for(given, spec);

		if (one->text && spec->size && is_for(spec, aqm))
			set(spec, one->value, params);
	}
	params->hosts = roundup(params->hosts, HOSTS_WAYS);
	if (param_given(given, "limit")->text && !param_given(given, "memlimit")->text)
		params->memlimit = 0;
	if (read_derived(given, aqm, derived) &&
	    (!aqm->derive(derived, params->aqm, why) ||
	     !overrides_agree(given, aqm, derived, params, why)))
		return false;
	return values_agree(given, params, why);
}

/* ---- to show them ---------------------------------------------------------------- */

bool params_differ(const struct option_spec *spec, const struct dualpi2_params *params)
{
	if (!spec->name || !spec->size || spec->kind == KIND_PRESET)
		return false;
	if (spec->kind == KIND_SWITCH)
		return get(spec, params) == spec->value && !option_is_default(params_all(), spec);
	return params_value(spec, params) != spec->value;
}

const char *params_flag(const struct option_spec *spec, const struct dualpi2_params *params)
{
	const char *name = NULL;

	for (const struct option_spec *flag = params_all(); option_exists(flag); flag++) {
		if (flag->kind != KIND_SWITCH || flag->aqm != spec->aqm ||
		    flag->offset != spec->offset)
			continue;
		if (get(flag, params) == flag->value)
			return flag->name;
		name = "unknown"; /* somebody else wrote to the map */
	}
	return name;
}

const char *params_text(const struct option_spec *spec, const struct dualpi2_params *params,
			char *text)
{
	size_t used = snprintf(text, OPTION_TEXT_MAX, "%s", spec->name);
	char value[OPTION_TEXT_MAX];

	if (!option_is_flag(spec))
		snprintf(text + used, OPTION_TEXT_MAX - used, " %s",
			 value_show(spec, params_value(spec, params), value));
	return text;
}

/* "dualq-2015 (historical)" */
static const char *preset_text(const struct option_spec *spec, char *text)
{
	snprintf(text, OPTION_TEXT_MAX, "%s (%s)", spec->name, spec->label);
	return text;
}

static bool is_rate(const struct option_spec *spec)
{
	return spec->size && spec->offset == offsetof(struct dualpi2_params, rate);
}

bool params_is_head(const struct option_spec *spec)
{
	return is_rate(spec) || spec->offset == offsetof(struct dualpi2_params, aqm);
}

/* Adds ", WHAT"; cut where `text` ends. */
static size_t add(char *text, size_t size, size_t used, const char *what)
{
	return used < size ? used + snprintf(text + used, size - used, ", %s", what) : used;
}

const char *params_describe(const struct option_given *given, bool with_head, const struct aqm *aqm,
			    const struct dualpi2_params *params, char *text, size_t size)
{
	char one[OPTION_TEXT_MAX], value[OPTION_TEXT_MAX], why[PARAMS_WHY_MAX];
	struct aqm_derived derived[AQM_OPTIONS_MAX];
	struct dualpi2_params scratch = {};
	const struct option_spec *rate = option_named(params_all(), "rate");
	size_t used = 0, n_derived;

	text[0] = '\0';
	if (with_head || given_for(given, rate)->text)
		used = add(text, size, used, params_text(rate, params, one));
	n_derived = read_derived(given, aqm, derived);
	if (n_derived && !aqm->derive(derived, scratch.aqm, why))
		n_derived = 0;
	for (size_t i = 0; i < n_derived; i++) {
		snprintf(one, sizeof(one), "%s %.60s", derived[i].spec->name,
			 value_show(derived[i].spec, derived[i].value, value));
		used = add(text, size, used, one);
	}
	for (const struct option_spec *spec = params_all(); option_exists(spec); spec++) {
		const bool is_given = given_for(given, spec)->text;
		const bool is_shown =
			(spec->aqm && n_derived) || (with_head && params_is_head(spec));

		if (!spec->name || !is_for(spec, aqm) || is_rate(spec))
			continue;
		if (is_given && spec->kind == KIND_OPTIONS)
			used = add(text, size, used, preset_text(spec, one));
		else if (spec->size && (is_given || is_shown))
			used = add(text, size, used, params_text(spec, params, one));
	}
	return text;
}
