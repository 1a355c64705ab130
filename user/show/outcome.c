// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/outcome.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "attach/gso.h"
#include "check/report.h"
#include "cli/message.h"
#include "pinned/pins.h"

#define TEXT_MAX 512

/* ", rate 40mbit, ..." */
static const char *describe(const struct outcome *outcome, bool with_head, char text[TEXT_MAX])
{
	return params_describe(outcome->request->params, with_head, outcome->aqm, &outcome->params,
			       text, TEXT_MAX);
}

static void say_attached(const struct outcome *outcome)
{
	char params[TEXT_MAX], handle[16] = "", instead_of[64] = "", subscribers[64] = "";

	if (outcome->request->handle)
		snprintf(handle, sizeof(handle),
			 " as %x:", TC_H_MAJ(outcome->request->handle) >> 16);
	if (outcome->former && outcome->former != outcome->aqm)
		snprintf(instead_of, sizeof(instead_of), " in place of %s", outcome->former->kind);
	else if (outcome->former)
		snprintf(instead_of, sizeof(instead_of),
			 " in place of %x:", TC_H_MAJ(outcome->former_handle) >> 16);
	if (outcome->subscribers)
		snprintf(subscribers, sizeof(subscribers), ", subscribers and parents: %zu",
			 outcome->subscribers);
	say_line("%s: %s attached%s%s%s%s%s", outcome->label, outcome->aqm->kind,
		 outcome->is_mq ? " to each transmit queue (mq)" : "", handle, instead_of,
		 describe(outcome, true, params), subscribers);
}

/* What is attached: ", rate 40mbit, target 15ms", and what is not the default. */
static void say_live(const struct outcome *outcome)
{
	char params[TEXT_MAX], one[OPTION_TEXT_MAX];
	const struct option_spec *spec;
	size_t used;

	used = strlen(params_describe(params_none, true, outcome->aqm, &outcome->params, params,
				      sizeof(params)));
	for (size_t i = 0; (spec = params_row(outcome->aqm, i)); i++) {
		if (!params_is_head(spec) && params_differ(spec, &outcome->params))
			used += snprintf(params + used, sizeof(params) - used, ", %s",
					 params_text(spec, &outcome->params, one));
		if (used >= sizeof(params))
			break;
	}
	say_line("%s: %s%s%s", outcome->label, outcome->aqm->kind,
		 outcome->is_mq ? " at each transmit queue (mq)" : "", params);
}

/* "", or what was repaired, behind `begin` */
static const char *repairs_text(const struct repairs *repairs, const char *begin,
				char text[TEXT_MAX])
{
	size_t used = 0;

	text[0] = '\0';
	if (repairs->tcx)
		used = snprintf(text, TEXT_MAX, "%sits tcx program is attached again", begin);
	if (repairs->gso)
		used += snprintf(text + used, TEXT_MAX - used, "%sGSO packets are split again",
				 used ? ", " : begin);
	if (repairs->hosts)
		used += snprintf(text + used, TEXT_MAX - used,
				 "%sits hosts have their queues again", used ? ", " : begin);
	if (repairs->subscribers)
		used += snprintf(text + used, TEXT_MAX - used,
				 "%sits subscribers have their queues again", used ? ", " : begin);
	if (repairs->queues)
		snprintf(text + used, TEXT_MAX - used, "%s%zu of its queues have it again",
			 used ? ", " : begin, repairs->queues);
	return text;
}

/* ", subscribers: 2 new, 1 changed"; "": nothing has changed of them. */
static const char *subscribers_text(const size_t changes[N_SUBSCRIBER_CHANGES], char text[TEXT_MAX])
{
	static const char *const words[N_SUBSCRIBER_CHANGES] = {
		[SUBSCRIBER_ADDED] = "new",
		[SUBSCRIBER_CHANGED] = "changed",
		[SUBSCRIBER_REMOVED] = "gone",
		[SUBSCRIBER_PREFIX_SET] = "prefixes given",
		[SUBSCRIBER_PREFIX_GONE] = "prefixes taken away",
	};
	size_t used = 0;

	text[0] = '\0';
	for (int kind = 0; kind < N_SUBSCRIBER_CHANGES; kind++) {
		if (changes[kind])
			used += snprintf(text + used, TEXT_MAX - used, "%s%zu %s",
					 used ? ", " : ", subscribers: ", changes[kind],
					 words[kind]);
	}
	return text;
}

static void say_changed(const struct outcome *outcome)
{
	char params[TEXT_MAX], repaired[TEXT_MAX], subscribers[TEXT_MAX];

	say_line("%s: %s changed%s%s%s%s", outcome->label, outcome->aqm->kind,
		 describe(outcome, false, params),
		 outcome->request->whole ? ", all else default" : "",
		 subscribers_text(outcome->subscriber_changes, subscribers),
		 repairs_text(&outcome->repairs, "; ", repaired));
}

/* Behind the interface, and the kind of what is attached to it. */
static const char *const texts[] = {
	[OUTCOME_UNCHANGED] = " is attached already, nothing changed",
	[OUTCOME_CHANGED_BACK] = " has its former parameters again",
	[OUTCOME_PUT_BACK] = "as it was before",
	[OUTCOME_UNLOADED] = "unloaded",
	[OUTCOME_NOT_THERE] = "nothing to unload",
	[OUTCOME_HIDDEN] = " is attached, its parameters cannot be seen: `dualpi2-load --check`",
};

static void say_kind(const struct outcome *outcome)
{
	char text[TEXT_MAX];

	if (outcome->kind == OUTCOME_ATTACHED)
		say_attached(outcome);
	else if (outcome->kind == OUTCOME_CHANGED)
		say_changed(outcome);
	else if (outcome->kind == OUTCOME_LIVE)
		say_live(outcome);
	else if (outcome->kind == OUTCOME_REPAIRED)
		say_line("%s: %s repaired%s", outcome->label, outcome->aqm->kind,
			 repairs_text(&outcome->repairs, ": ", text));
	else if (outcome->kind == OUTCOME_REMOVED)
		say_line("%s: removed %s: incoming traffic no longer goes through it",
			 outcome->label, outcome->ifb);
	else if (outcome->kind != OUTCOME_NONE)
		say_line("%s: %s%s", outcome->label, outcome->aqm ? outcome->aqm->kind : "",
			 texts[outcome->kind]);
}

static void say_gso(const struct outcome *outcome)
{
	char which[GSO_TEXT_MAX];

	if (outcome->gso.why_whole)
		printf("  GSO packets cannot be split %s: local senders keep\n"
		       "  to gso_max_segs %u now, forwarded ones are queued whole\n",
		       outcome->gso.why_whole, outcome->gso.max_segs);
	else if (outcome->gso.is_split)
		printf("  GSO packets%s are split\n", gso_which(&outcome->params, which));
}

void outcome_say(const struct outcome *outcome)
{
	if (outcome->incomplete[0])
		say_line(
			"%s: %s is there again, but not with all it had: see `tc qdisc show dev %s "
			"root`",
			outcome->ifname, outcome->incomplete, outcome->ifname);
	say_kind(outcome);
	if (outcome->host_side)
		report_hint(outcome->host_side);
	if (outcome->kind == OUTCOME_ATTACHED || outcome->kind == OUTCOME_CHANGED)
		request_report(outcome->request, outcome->aqm, &outcome->params);
	say_gso(outcome);
	if (outcome->is_fed_again)
		say_line("%s: what arrives goes through %s again", outcome->ifname, outcome->ifb);
	if (outcome->registered)
		printf("  %s stays registered: whether it is net.core.default_qdisc cannot be seen "
		       "from here.\n"
		       "  If not, `rm -r " PIN_DIR "*` ends it, or the next --unload by root\n",
		       outcome->registered->kind);
}
