// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/message.h"
#include "interface/ifb.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "sample/clock.h"
#include "sample/sampler.h"
#include "show/json.h"

/* How long it takes to notice an event, or that another kind is registered, or none any more. */
#define LOOK_NS (100 * DUALPI2_NSEC_PER_MSEC)

/* "2026-01-31 12:00:00.250" of local time. */
static void print_time(double unix_time)
{
	const time_t seconds = (time_t)unix_time;
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%F %T", localtime_r(&seconds, &tm));
	printf("%s.%03d", text, (int)((unix_time - (double)seconds) * 1000));
}

/* Of which interface it is, and where that is. */
struct place {
	char ifname[IF_NAMESIZE];
	enum direction direction;
	char device[IF_NAMESIZE]; /* as in struct sample */
	bool elsewhere;		  /* in another network namespace */
};

static void print_text(const struct dualpi2_event *event, const struct place *place)
{
	char parent[FORMAT_MAX], duration[FORMAT_MAX], name[NAME_SHOWN_MAX];

	print_time(clock_unix_time(event->start_ns + event->duration_ns));
	printf(" %s%s", sample_name(place->ifname, name),
	       place->direction == INGRESS ? ", ingress" : "");
	if (place->elsewhere)
		printf(" (netns %u)", event->netns);
	if (event->key.parent != TC_H_ROOT)
		printf(" (queue %s)", format_class(event->key.parent, parent));
	if (event->ended)
		printf(": overload ended after %s\n", format_delay(event->duration_ns, duration));
	else
		printf(": overload began\n");
}

static void print_json(const struct dualpi2_event *event, const struct place *place)
{
	struct json_object *object = json_object_new_object();
	char parent[FORMAT_MAX];

	json_add_decimal(object, "time", JSON_SECONDS,
			 clock_unix_time(event->start_ns + event->duration_ns));
	json_add_text(object, "dev", place->device);
	json_add_text(object, "interface", place->ifname);
	json_add_text(object, "direction", direction_name(place->direction));
	json_add_uint(object, "netns", event->netns);
	if (event->key.parent != TC_H_ROOT)
		json_add_text(object, "parent", format_class(event->key.parent, parent));
	json_add_text(object, "event", event->ended ? "ended" : "began");
	json_add_decimal(object, "start", JSON_SECONDS, clock_unix_time(event->start_ns));
	json_add_uint(object, "duration", sample_us(event->duration_ns));
	json_put_line(stdout, object);
}

/* Does it follow the events of a device, or (`ifb`, or NULL) of what arrives through it? One that
 * is gone has its name in the event.
 */
static bool is_followed(struct sampler *sampler, const struct dualpi2_event *event,
			const struct ifb *ifb)
{
	const int device = (int)event->key.ifindex;
	struct link link;
	int found = sampler_link(sampler);

	if (found > 0 && (sampler->link.ifindex == device ||
			  (ifb && ifb_belongs_to(ifb, (__u32)sampler->link.ifindex))))
		return true;
	return found >= 0 && !link_look(device, &link) && !strcmp(event->ifname, sampler->ifname);
}

static void print(const struct follower *follower, const struct dualpi2_event *event)
{
	struct place place = { .elsewhere = event->key.netns != follower->netns };
	const struct ifb *ifb = NULL;
	struct ifbs ifbs;

	if (!place.elsewhere && ifbs_read(&follower->sampler->regs, &ifbs))
		ifb = ifbs_find(&ifbs, event->key.ifindex);
	/* An interface of another namespace: no index of ours. */
	sample_ifname(place.elsewhere ? 0 : event->key.ifindex, event->ifname, place.device);
	place.direction = sample_interface(ifb, place.device, place.ifname);
	if (follower->sampler->ifname &&
	    (place.elsewhere || !is_followed(follower->sampler, event, ifb)))
		return;
	if (follower->json)
		print_json(event, &place);
	else
		print_text(event, &place);
}

/* Those that an AQM has kept. */
static bool read_kept(const struct registration *reg, struct dualpi2_event *kept)
{
	__u32 places[DUALPI2_EVENTS], last, count = DUALPI2_EVENTS;
	const int error =
		bpf_map_lookup_batch(reg->events, NULL, &last, places, kept, &count, NULL);

	if (error && error != -ENOENT) /* that is their end */
		return fail(-error, "cannot read the events (-v shows why)");
	return true;
}

static __u64 latest_of(const struct dualpi2_event *kept)
{
	__u64 latest = 0;

	for (size_t i = 0; i < DUALPI2_EVENTS; i++)
		latest = MAX(latest, kept[i].number);
	return latest;
}

/* Print those behind `seen`. The number of the last one that can be told now. */
static __u64 print_new(const struct follower *follower, __u64 seen, __u64 latest,
		       const struct dualpi2_event *kept)
{
	if (latest - seen > DUALPI2_EVENTS) {
		verbose("%llu events came too fast to be told", latest - seen - DUALPI2_EVENTS);
		seen = latest - DUALPI2_EVENTS;
	}
	for (; seen < latest; seen++) {
		const struct dualpi2_event *event = &kept[(seen + 1) % DUALPI2_EVENTS];

		if (event->number <= seen)
			break; /* another CPU is still writing it */
		if (event->number == seen + 1 && event->begun == event->number)
			print(follower, event);
	}
	return seen;
}

bool events_look(struct follower *follower, bool printed)
{
	const struct registrations *regs = &follower->sampler->regs;
	struct dualpi2_event kept[DUALPI2_EVENTS] = {};

	for (size_t i = 0; i < regs->count; i++) {
		const struct registration *reg = &regs->of[i];
		__u64 latest;

		if (reg->events < 0)
			continue;
		if (!read_kept(reg, kept))
			return false;
		latest = latest_of(kept);
		follower->latest[i] =
			printed ? print_new(follower, follower->latest[i], latest, kept) : latest;
	}
	return say_flush();
}

/* An interface has another AQM now, or was unloaded: what is registered has changed. All events of
 * a map that is new are. That it cannot be seen is no change.
 */
static bool keep_up(struct follower *follower)
{
	const struct registrations *regs = &follower->sampler->regs;
	bool has_changed = false;

	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_current(&regs->of[i]))
			continue;
		has_changed = true;
		follower->latest[i] = 0;
	}
	if (has_changed && !sampler_open_again(follower->sampler))
		return false;
	return registrations_found(regs) ||
	       fail(0, "bpf_dualpi2 was unloaded from the last interface: there will be no more "
		       "events");
}

static bool follow_all(struct follower *follower, struct pace *pace)
{
	while (pace_wait(pace, -1) != PACE_END) {
		if (!events_look(follower, true) || !keep_up(follower))
			return false;
	}
	return true;
}

bool events_follow(struct sampler *sampler, bool json)
{
	struct follower follower = {
		.sampler = sampler,
		.netns = netns_current(),
		.json = json,
	};
	struct pace pace;

	return follower.netns && events_look(&follower, false) && pace_start(&pace, LOOK_NS) &&
	       follow_all(&follower, &pace);
}
