// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mark_values/policy.h"

#include <stdint.h>
#include <string.h>

#include "cli/lines.h"
#include "cli/message.h"
#include "cli/options.h"

#define POLICIES_MAX 32 /* with those that need no line */

struct named {
	const char *name;
	struct value_policy policy;
};

/* The policies so far, while a file is read. */
struct reading {
	struct named named[POLICIES_MAX];
	int count;
	struct policies *policies;
	uint64_t given; /* bit n: DSCP n has its policy */
	bool has_default;
};

static const struct option_spec share_spec = {
	"share",  .is_word = true,	  .kind = KIND_PERCENT,
	.min = 1, .max = VALUE_SHARE_MAX, .value = 200
};
static const struct option_spec rate_spec = { "rate",	.is_word = true,       .kind = KIND_RATE,
					      .min = 1, .max = VALUE_RATE_MAX, .value = 5000000 };
static const struct option_spec value_spec = {
	"value",  .is_word = true,	.kind = KIND_NUMBER,
	.min = 1, .max = VDQ_VALUE_MAX, .value = VDQ_VALUE_MIDDLE
};
static const struct option_spec dscp_spec = { "dscp", .is_word = true, .kind = KIND_DSCPS };

/* ---- names ---------------------------------------------------------------------------- */

static const struct value_policy *find(const struct reading *reading, const char *name)
{
	for (int i = 0; i < reading->count; i++) {
		if (!strcmp(reading->named[i].name, name))
			return &reading->named[i].policy;
	}
	return NULL;
}

static void add(struct reading *reading, const char *name, struct value_policy policy)
{
	reading->named[reading->count++] = (struct named){ name, policy };
}

/* The policy of this name, which a line ends with; NULL, which is reported. */
static const struct value_policy *expect_policy(const struct reading *reading, const char *keyword,
						const char *name, const char *more)
{
	const struct value_policy *policy = name ? find(reading, name) : NULL;

	if (more)
		fail(0, "unexpected `%s` after `%s`", more, keyword);
	else if (!name)
		fail(0, "%s: the name of a policy is missing (for example gold)", keyword);
	else if (!policy)
		fail(0, "%s: no such policy: silver, gold, or one of a line before this one", name);
	return more ? NULL : policy;
}

/* ---- a policy of one's own ------------------------------------------------------------- */

static bool read_share(const char *text, const char *more, struct value_policy *policy)
{
	uint64_t share;

	if (!text || more)
		return fail(0, "share: one percentage (for example 200; 1 to %u)", VALUE_SHARE_MAX);
	if (!option_read(&share_spec, text, &share))
		return false;
	policy->share = (__u32)share;
	return true;
}

/* "40mbit=500000" */
static bool read_point(char *text, struct value_policy *policy)
{
	struct value_point *point = &policy->point[policy->points];
	char *equals = strchr(text, '=');
	uint64_t rate, value;

	if (!equals)
		return fail(0, "%s: not RATE=VALUE (for example 40mbit=500000)", text);
	if (policy->points == VALUE_POINTS_MAX)
		return fail(0, "%s: a policy has at most %d points", text, VALUE_POINTS_MAX);
	*equals = '\0';
	if (!option_read(&rate_spec, text, &rate) || !option_read(&value_spec, equals + 1, &value))
		return false;
	if (policy->points && (rate <= point[-1].rate || value > point[-1].value))
		return fail(0, "%s: with a higher rate the value has to fall, or to stay", text);
	*point = (struct value_point){ .rate = rate, .value = (__u32)value };
	policy->points++;
	return true;
}

/* NAME share PERCENT, or NAME RATE=VALUE ... */
static bool take_policy(struct reading *reading, char **rest)
{
	const char *name = line_word(NULL, rest);
	struct value_policy policy = { .share = 100 };
	char *word = line_word(NULL, rest);

	if (!word)
		return fail(0, "policy: a name, and `share PERCENT` or RATE=VALUE ... are missing");
	if (find(reading, name))
		return fail(0, "%s: there is such a policy already: choose another name", name);
	if (reading->count == POLICIES_MAX)
		return fail(0, "%s: too many policies: at most %d besides silver and gold", name,
			    POLICIES_MAX - 2);
	if (!strcmp(word, "share")) {
		const char *share = line_word(NULL, rest);

		if (!read_share(share, line_word(NULL, rest), &policy))
			return false;
		word = NULL;
	}
	for (; word; word = line_word(NULL, rest)) {
		if (!read_point(word, &policy))
			return false;
	}
	add(reading, name, policy);
	return true;
}

/* ---- whose ----------------------------------------------------------------------------- */

/* Give a policy to these DSCPs. */
static void give(struct reading *reading, uint64_t dscps, const struct value_policy *policy)
{
	for (int dscp = 0; dscp < MARK_VALUES_DSCPS; dscp++) {
		if (dscps >> dscp & 1)
			reading->policies->of[dscp] = *policy;
	}
}

/* LIST NAME */
static bool take_dscp(struct reading *reading, char **rest)
{
	const char *list = line_word(NULL, rest), *name = line_word(NULL, rest);
	const struct value_policy *policy;
	uint64_t dscps;

	if (!list)
		return fail(0, "dscp: DSCPs and a policy are missing (for example ef,af41 gold)");
	if (!option_read(&dscp_spec, list, &dscps))
		return false;
	policy = expect_policy(reading, "dscp", name, line_word(NULL, rest));
	if (!policy)
		return false;
	if (dscps & reading->given)
		return fail(0, "%s: one of them has a policy already", list);
	reading->given |= dscps;
	give(reading, dscps, policy);
	return true;
}

/* NAME */
static bool take_default(struct reading *reading, char **rest)
{
	const char *name = line_word(NULL, rest);
	const struct value_policy *policy =
		expect_policy(reading, "default", name, line_word(NULL, rest));

	if (!policy)
		return false;
	if (reading->has_default)
		return fail(0, "default: given twice: give it once");
	reading->has_default = true;
	give(reading, ~reading->given, policy);
	return true;
}

static bool take_line(void *data, char *line)
{
	static const struct {
		const char *keyword;
		bool (*take)(struct reading *reading, char **rest);
	} lines[] = {
		{ "policy", take_policy },
		{ "dscp", take_dscp },
		{ "default", take_default },
	};
	char *rest;
	const char *keyword = line_word(line, &rest);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strcmp(lines[i].keyword, keyword))
			return lines[i].take(data, &rest);
	}
	return fail(0, "%s: not one of policy, dscp and default", keyword);
}

bool policies_read(const char *path, struct policies *policies)
{
	struct reading reading = { .policies = policies };

	*policies = (struct policies){};
	add(&reading, POLICY_DEFAULT, (struct value_policy){ .share = 100 });
	add(&reading, "gold", (struct value_policy){ .share = 200 });
	give(&reading, ~0ULL, find(&reading, POLICY_DEFAULT));
	return !path || lines_read(path, take_line, &reading);
}
