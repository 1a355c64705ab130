// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/flows.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/format.h"
#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/pin_dir.h"
#include "sample/clock.h"
#include "sample/convicts.h"
#include "show/flow_text.h"
#include "show/show.h"

/* A qdisc, and whom its guard has convicted. */
struct docket {
	const struct sample *sample;
	bool is_guarded;
	struct guarded guarded; /* at the time of the court, not of the sample */
	size_t count, out;	/* of `convicts`: all, and those that are out now */
	struct convict convicts[DUALPI2_CONVICTIONS];
	struct court court;
};

static bool refuse(int error, const struct sample *sample)
{
	char place[PLACE_MAX];

	sample_place(sample, place);
	if (error)
		return expect_known(error, "the flows of %s", place) >= 0;
	return fail(0,
		    "%s: whom the guard has convicted only the owner of " PIN_DIR
		    " may see: run it %s",
		    place, privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
}

static bool open_docket(const struct registrations *regs, const struct sample *sample,
			struct docket *docket)
{
	int found;

	docket->sample = sample;
	docket->is_guarded = sample->total.stats.params.guard;
	docket->guarded = sample->guarded;
	docket->count = docket->out = 0;
	docket->court = (struct court){};
	if (!docket->is_guarded)
		return true;
	found = court_read(registration_of(regs, sample->aqm), true, &docket->court);
	if (found <= 0)
		return refuse(found, sample);
	docket->guarded = guarded_at(&docket->court, sample);
	docket->count = convicts_of(&docket->court, sample, docket->convicts);
	for (size_t i = 0; i < docket->count; i++)
		docket->out += docket->convicts[i].is_out;
	return true;
}

static __u64 ago_ns(const struct docket *docket, const struct convict *convict)
{
	const __u64 start = convict->conviction->start_ns;

	return docket->court.taken_ns > start ? docket->court.taken_ns - start : 0;
}

/* ---- for people ---------------------------------------------------------------------- */

#define FLOW_COLUMN 37
#define LINE_WIDTH 80

/* A name, on as many lines as it takes, from FLOW_COLUMN on. */
static void print_name(const struct flow_name *name)
{
	char text[FLOW_NAME_TEXT_MAX];
	const char *rest = flow_name_text(name, text);
	int indent = 0;

	while (*rest) {
		int length;
		const char *next = format_line(rest, LINE_WIDTH - FLOW_COLUMN, &length);

		printf("%*s%.*s\n", indent, "", length, rest);
		indent = FLOW_COLUMN;
		rest = next;
	}
}

__u64 flows_delay_ns(const struct dualpi2_conviction *conviction)
{
	return conviction->c_us ? conviction->c_us * DUALPI2_NSEC_PER_USEC : conviction->l_ns;
}

static void print_convict(const struct docket *docket, const struct convict *convict)
{
	const struct dualpi2_conviction *conviction = convict->conviction;
	char since[FORMAT_MAX], left[FORMAT_MAX], delay[FORMAT_MAX], term[FORMAT_MAX];

	printf("%8s %9s %6s %s %7s  ", format_delay((double)ago_ns(docket, convict), since),
	       convict->left_ns ? format_delay((double)convict->left_ns, left) : "C waits",
	       format_count(conviction->term, term), conviction->c_us ? "C" : "L",
	       format_delay((double)flows_delay_ns(conviction), delay));
	print_name(&conviction->name);
}

static void print_none(const struct docket *docket)
{
	const struct convict *latest = docket->convicts;
	char name[FLOW_NAME_TEXT_MAX], ago[FORMAT_MAX];

	if (!docket->count) {
		printf("no flow is out of the L4S queue, and %s\n",
		       docket->sample->total.stats.convictions
			       ? "the names of those that were are no longer kept"
			       : "none was");
		return;
	}
	printf("no flow is out of the L4S queue; the latest one was convicted %s ago:\n  %s\n",
	       format_delay((double)ago_ns(docket, latest), ago),
	       flow_name_text(&latest->conviction->name, name));
}

static void print_out(const struct docket *docket)
{
	const __u32 convicts = docket->guarded.convicts;

	printf("%u flow%s out of the L4S queue\n%8s %9s %6s %9s  %s\n", convicts,
	       convicts == 1 ? " is" : "s are", "since", "time left", "term", "queue", "flow");
	for (size_t i = 0; i < docket->count; i++) {
		if (docket->convicts[i].is_out)
			print_convict(docket, &docket->convicts[i]);
	}
	if (convicts > docket->out)
		printf("  and %zu whose names are no longer kept\n", convicts - docket->out);
}

static void print_table(const struct docket *docket)
{
	const struct sample *sample = docket->sample;
	char place[PLACE_MAX], name[NAME_SHOWN_MAX];

	printf("%s: ", sample_place(sample, place));
	if (!docket->is_guarded)
		printf("the guard is off: `dualpi2-load %s%s --guard` turns it on\n",
		       sample_name(sample->ifname, name), sample_option(sample));
	else if (docket->guarded.convicts)
		print_out(docket);
	else
		print_none(docket);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void add_known(struct json_object *to, const char *key, bool is_known, __u64 value)
{
	if (is_known)
		json_add_uint(to, key, value);
	else
		json_add(to, key, NULL);
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	if (text)
		json_add_text(to, key, text);
	else
		json_add(to, key, NULL);
}

static struct json_object *name_object(const struct flow_name *name)
{
	struct json_object *flow = json_object_new_object();
	const bool has_ports = name->has & FLOW_NAME_PORTS;
	char text[FLOW_ADDRESS_MAX], number[FLOW_PROTOCOL_MAX];

	add_text(flow, "source", flow_name_address(name, true, text));
	add_text(flow, "target", flow_name_address(name, false, text));
	add_text(flow, "protocol", flow_name_protocol(name, number));
	add_known(flow, "source-port", has_ports, name->source_port);
	add_known(flow, "target-port", has_ports, name->target_port);
	if (flow_name_may_have_spi(name))
		add_known(flow, "spi", name->has & FLOW_NAME_SPI, name->spi);
	if (name->label)
		json_add_uint(flow, "flow-label", name->label);
	json_add_uint(flow, "tunnels", name->tunnels);
	json_add(flow, "fragment", json_object_new_boolean(name->has & FLOW_NAME_FRAGMENT));
	return flow;
}

void flows_add_gauges(struct json_object *to, const struct guarded *guarded)
{
	add_known(to, "convicts", guarded->is_known, guarded->convicts);
	add_known(to, "worst-score", guarded->is_known, guarded->worst);
}

void flows_add_conviction(struct json_object *to, const struct dualpi2_conviction *conviction)
{
	json_add(to, "flow", name_object(&conviction->name));
	json_add_uint(to, "term", conviction->term);
	json_add_decimal(to, "until", JSON_SECONDS, clock_unix_time(conviction->until_ns));
	json_add_uint(to, "l-delay", sample_us(conviction->l_ns));
	json_add_uint(to, "c-delay", conviction->c_us);
}

static struct json_object *convict_object(const struct convict *convict)
{
	struct json_object *object = json_object_new_object();

	json_add_decimal(object, "since", JSON_SECONDS,
			 clock_unix_time(convict->conviction->start_ns));
	json_add(object, "out", json_object_new_boolean(convict->is_out));
	json_add_uint(object, "left", sample_us(convict->left_ns));
	flows_add_conviction(object, convict->conviction);
	return object;
}

static struct json_object *docket_object(const struct docket *docket)
{
	const struct sample *sample = docket->sample;
	struct json_object *object = json_object_new_object(), *flows = json_object_new_array();
	char class[FORMAT_MAX];

	json_add_text(object, "dev", sample->device);
	json_add_text(object, "interface", sample->ifname);
	json_add_text(object, "direction", direction_name(sample->direction));
	if (sample->key.parent != TC_H_ROOT)
		json_add_text(object, "parent", format_class(sample->key.parent, class));
	json_add(object, "guard", json_object_new_boolean(docket->is_guarded));
	flows_add_gauges(object, &docket->guarded);
	for (size_t i = 0; i < docket->count; i++)
		json_object_array_add(flows, convict_object(&docket->convicts[i]));
	json_add(object, "flows", flows);
	return object;
}

/* ---- both ---------------------------------------------------------------------------- */

static bool print_each(const struct registrations *regs, const struct samples *list,
		       struct docket *docket, struct json_object *array)
{
	bool shown = true;

	for (size_t i = 0; shown && i < list->count; i++) {
		if (list->items[i].is_sum)
			continue;
		shown = open_docket(regs, &list->items[i], docket);
		if (shown && array)
			json_object_array_add(array, docket_object(docket));
		else if (shown)
			print_table(docket);
		court_free(&docket->court);
	}
	return shown;
}

bool flows_print(const struct registrations *regs, const struct samples *list, bool json)
{
	struct json_object *array = json ? json_object_new_array() : NULL;
	struct docket *docket = malloc(sizeof(*docket));
	bool shown = false;

	if (docket)
		shown = print_each(regs, list, docket, array);
	else
		fail(ENOMEM, "no room for the flows");
	free(docket);
	if (json && shown)
		puts(json_object_to_json_string_ext(array, JSON_STYLE | JSON_C_TO_STRING_PRETTY));
	json_object_put(array);
	return shown;
}
