// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/params.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "aqm/member.h"

const struct option_spec common_params[N_PARAMS] = { DUALPI2_PARAMS(ROW_PARAM, ROW_CHOICE,
								    ROW_FLAG) };

bool params_refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, PARAMS_WHY_MAX, format, args);
	va_end(args);
	return false;
}

/* ---- rows and members ------------------------------------------------------------ */

const struct option_spec *params_row(const struct aqm *aqm, size_t i)
{
	if (i < N_LIMITS)
		return &common_params[i];
	i -= N_LIMITS;
	if (i < aqm->n_options)
		return &aqm->options[i];
	i += N_LIMITS - aqm->n_options;
	return i < N_PARAMS ? &common_params[i] : NULL;
}

bool params_row_is_first(const struct aqm *aqm, size_t i)
{
	return i < N_LIMITS + aqm->n_options + N_QUEUES;
}

/* The number of an option; `count` if there is none of this name. */
static size_t find(const struct option_spec *specs, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count && (!specs[i].name || strcmp(specs[i].name, name)))
		i++;
	return i;
}

const struct option_spec *params_find(const char *name)
{
	return &common_params[find(common_params, N_PARAMS, name)];
}

static uint64_t get(const struct option_spec *spec, const struct dualpi2_params *params)
{
	return member_get(params, spec->offset, spec->size);
}

static void put(const struct option_spec *spec, uint64_t value, struct dualpi2_params *params)
{
	member_set(params, spec->offset, spec->size, value);
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
		put(spec, value, params);
	}
}

struct dualpi2_params params_default(const struct aqm *aqm)
{
	struct dualpi2_params params = {};
	const struct option_spec *spec;

	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		if (spec->size && !value_is_flag(spec))
			put(spec, spec->value, &params);
	}
	return params;
}

/* ---- what was given -------------------------------------------------------------- */

static size_t aqm_number(const struct aqm *aqm)
{
	size_t number = 0;

	while (aqms[number] != aqm)
		number++;
	return number;
}

/* What was given for params_row(aqm, i). */
static const char *given(const struct param_values *values, const struct aqm *aqm, size_t i)
{
	if (i < N_LIMITS)
		return values->common[i];
	if (i < N_LIMITS + aqm->n_options)
		return values->own[aqm_number(aqm)][i - N_LIMITS];
	return values->common[i - aqm->n_options];
}

const char *params_given_as(const struct param_values *values, const char *name)
{
	return values->common[find(common_params, N_PARAMS, name)];
}

static bool any_of(const char *const texts[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (texts[i])
			return true;
	}
	return false;
}

bool params_given(const struct param_values *values)
{
	return any_of(values->common, N_PARAMS) ||
	       any_of(values->own[0], (size_t)AQMS_MAX * AQM_OPTIONS_MAX);
}

/* ---- rules between options ------------------------------------------------------- */

/* Options of other AQMs than this one, or out of its range. */
static bool aqm_agrees(const struct param_values *values, const struct aqm *aqm, char *why)
{
	for (size_t n = 0; aqms[n]; n++) {
		for (size_t i = 0; i < aqms[n]->n_options; i++) {
			const char *text = values->own[n][i], *name = aqms[n]->options[i].name;
			size_t same = find(aqm->options, aqm->n_options, name);
			char range[OPTION_TEXT_MAX];
			uint64_t value;

			if (!text)
				continue;
			if (same == aqm->n_options)
				return params_refuse(why, "--%s %s: is not for the AQM %s", name,
						     text, aqm->name);
			if (value_read(&aqm->options[same], text, &value) != VALUE_OK)
				return params_refuse(why, "--%s %s: not for the AQM %s (%s)", name,
						     text, aqm->name,
						     value_range(&aqm->options[same], range));
		}
	}
	return true;
}

static bool link_agrees(const struct param_values *values, char *why)
{
	const char *overhead = params_given_as(values, "overhead");

	if (params_given_as(values, "raw") && overhead)
		return params_refuse(why, "--overhead %s: excludes --raw: give one of them",
				     overhead);
	return true;
}

static bool dscps_agree(const struct dualpi2_params *params, char *why)
{
	uint64_t both = params->l4s_dscp & params->classic_dscp;
	char text[OPTION_TEXT_MAX];

	if (both)
		return params_refuse(
			why, "--l4s-dscp, --classic-dscp: both would have %s: take it out of one",
			value_format(params_find("l4s-dscp"), both, text));
	return true;
}

static const char *const *derived_texts(const struct param_values *values, const struct aqm *aqm)
{
	return values->own[aqm_number(aqm)] + aqm->n_params;
}

static bool is_derived(const struct param_values *values, const struct aqm *aqm)
{
	return any_of(derived_texts(values, aqm), aqm->n_options - aqm->n_params);
}

/* Set what options set together, and put into `read` their own values. */
static bool derive(const struct param_values *values, const struct aqm *aqm,
		   struct dualpi2_params *params, uint64_t read[], char *why)
{
	const char *const *texts = derived_texts(values, aqm);

	for (size_t i = aqm->n_params; i < aqm->n_options; i++) {
		read[i - aqm->n_params] = 0;
		if (texts[i - aqm->n_params])
			value_read(&aqm->options[i], texts[i - aqm->n_params],
				   &read[i - aqm->n_params]);
	}
	return aqm->derive(texts, read, params->aqm, why);
}

bool params_apply(const struct param_values *values, const struct aqm *aqm,
		  struct dualpi2_params *params, char *why)
{
	uint64_t value, derived[AQM_OPTIONS_MAX];
	const struct option_spec *spec;

	if (!aqm_agrees(values, aqm, why))
		return false;
	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		const char *text = given(values, aqm, i);

		if (!text || !spec->size)
			continue;
		if (value_is_flag(spec))
			set(spec, spec->value, params);
		else if (value_read(spec, text, &value) == VALUE_OK)
			set(spec, value, params);
	}
	if (params_given_as(values, "limit") && !params_given_as(values, "memlimit"))
		params->memlimit = 0;
	if (is_derived(values, aqm) && !derive(values, aqm, params, derived, why))
		return false;
	return link_agrees(values, why) && dscps_agree(params, why);
}

/* ---- to show them ---------------------------------------------------------------- */

/* The row that a flag is one of the values of. */
static const struct option_spec *member_of(const struct option_spec *flag)
{
	const struct option_spec *spec = common_params;

	while (value_is_flag(spec) || spec->offset != flag->offset)
		spec++;
	return spec;
}

bool params_differ(const struct option_spec *spec, const struct dualpi2_params *params)
{
	if (!spec->name || !spec->size || spec->kind == KIND_PRESET)
		return false;
	if (spec->kind == KIND_SWITCH)
		return get(spec, params) == spec->value && member_of(spec)->value != spec->value;
	return params_value(spec, params) != spec->value;
}

const char *params_flag(const struct option_spec *spec, const struct dualpi2_params *params)
{
	const char *name = NULL;

	for (size_t i = 0; i < N_PARAMS; i++) {
		const struct option_spec *flag = &common_params[i];

		if (flag->kind != KIND_SWITCH || flag->offset != spec->offset)
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

	if (!value_is_flag(spec))
		snprintf(text + used, OPTION_TEXT_MAX - used, " %s",
			 value_show(spec, params_value(spec, params), value));
	return text;
}

bool params_is_head(const struct aqm *aqm, const struct option_spec *spec)
{
	return spec == params_find("rate") || (aqm->n_params && spec == aqm->options);
}

/* Adds ", WHAT"; cut where `text` ends. */
static size_t add(char *text, size_t size, size_t used, const char *what)
{
	return used < size ? used + snprintf(text + used, size - used, ", %s", what) : used;
}

static size_t add_derived(const struct param_values *values, const struct aqm *aqm, char *text,
			  size_t size, size_t used)
{
	struct dualpi2_params scratch = {};
	uint64_t derived[AQM_OPTIONS_MAX];
	char why[PARAMS_WHY_MAX];

	if (!derive(values, aqm, &scratch, derived, why))
		return used;
	for (size_t i = aqm->n_params; i < aqm->n_options; i++) {
		char value[OPTION_TEXT_MAX], one[OPTION_TEXT_MAX];

		snprintf(one, sizeof(one), "%s %.60s", aqm->options[i].name,
			 value_show(&aqm->options[i], derived[i - aqm->n_params], value));
		used = add(text, size, used, one);
	}
	return used;
}

const char *params_describe(const struct param_values *values, bool with_head,
			    const struct aqm *aqm, const struct dualpi2_params *params, char *text,
			    size_t size)
{
	static const struct param_values none;
	const struct option_spec *const rate = params_find("rate"), *spec;
	char one[OPTION_TEXT_MAX];
	size_t used = 0;
	bool derived;

	if (!values)
		values = &none;
	derived = is_derived(values, aqm);
	text[0] = '\0';
	if (with_head || params_given_as(values, "rate"))
		used = add(text, size, used, params_text(rate, params, one));
	if (derived)
		used = add_derived(values, aqm, text, size, used);
	for (size_t i = 0; (spec = params_row(aqm, i)); i++) {
		const bool is_own = i >= N_LIMITS && i < N_LIMITS + aqm->n_params;

		if (!spec->name || !spec->size || spec == rate)
			continue;
		if (given(values, aqm, i) || (is_own && derived) ||
		    (with_head && params_is_head(aqm, spec)))
			used = add(text, size, used, params_text(spec, params, one));
	}
	return text;
}
