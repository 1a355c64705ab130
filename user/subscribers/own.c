// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/own.h"

#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/lines.h"
#include "cli/message.h"
#include "subscribers/plan.h"
#include "subscribers/prefixes.h"

#define NO_PREFIX "-" /* of a parent */

/* ---- to read --------------------------------------------------------------------- */

static bool find_parent(const struct subscribers *list, const char *name,
			const struct subscriber **parent)
{
	*parent = subscribers_find(list, name);
	return (*parent && (*parent)->is_parent) ||
	       fail(0,
		    "%s: no such parent: it needs a line above this one, `%s " NO_PREFIX
		    " DOWN UP`",
		    name, name);
}

static bool take_line(void *data, char *line)
{
	struct subscribers *list = data;
	char *rest, *name = line_word(line, &rest), *prefixes = line_word(NULL, &rest);
	const char *down = line_word(NULL, &rest), *up = line_word(NULL, &rest);
	const char *parent = line_word(NULL, &rest), *more = line_word(NULL, &rest);
	const bool is_parent = prefixes && !strcmp(prefixes, NO_PREFIX);
	struct subscriber_plan plan = {};
	struct subscriber *added;

	if (!up || more)
		return fail(0, "%s: a line is NAME PREFIX[,PREFIX...] DOWN UP [PARENT]",
			    more ?: name);
	if (is_parent && parent)
		return fail(0, "%s: %s is a parent, and has none itself", parent, name);
	if (!plan_read_rate("down", down, &plan.down) || !plan_read_rate("up", up, &plan.up) ||
	    (parent && !find_parent(list, parent, &plan.parent)))
		return false;
	added = subscribers_add(list, name, &plan, is_parent);
	return added && (is_parent || subscribers_take_prefixes(list, added, prefixes));
}

bool own_parse(const char *path, char *text, size_t size, struct subscribers *list)
{
	return lines_parse(path, text, size, take_line, list);
}

/* ---- to print -------------------------------------------------------------------- */

/* Those of a subscriber begin at `prefix`. Returns where the next one's do. */
static const struct subscriber_prefix *print_prefixes(const struct subscriber *subscriber,
						      const struct subscriber_prefix *prefix,
						      const struct subscriber_prefix *end,
						      FILE *file)
{
	char before = ' ', text[PREFIX_TEXT_MAX];

	if (subscriber->is_parent)
		fprintf(file, " " NO_PREFIX);
	for (; prefix < end && prefix->owner == subscriber; prefix++, before = ',')
		fprintf(file, "%c%s", before, subscriber_prefix_text(&prefix->prefix, text));
	return prefix;
}

bool own_print(const struct subscribers *list, FILE *file)
{
	struct subscriber_prefix *sorted = subscribers_by_owner(list);
	const struct subscriber_prefix *next = sorted;
	char down[FORMAT_MAX], up[FORMAT_MAX];

	if (!sorted)
		return false;
	SUBSCRIBERS_FOR(each, list) {
		fprintf(file, "%s", each->name);
		next = print_prefixes(each, next, sorted + list->prefix_count, file);
		fprintf(file, " %s %s", format_rate(each->plan.down, down),
			format_rate(each->plan.up, up));
		fprintf(file, each->plan.parent ? " %s\n" : "\n",
			each->plan.parent ? each->plan.parent->name : "");
	}
	free(sorted);
	return true;
}
