// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/message.h"
#include "interface/ifb.h"
#include "kernel/array_map.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "sample/clock.h"
#include "sample/sampler.h"
#include "show/flow_text.h"
#include "show/flows.h"
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
	__u32 parent;
	__u32 netns;	/* inode */
	bool elsewhere; /* in another network namespace */
};

/* Up to what has happened, at `ns`. */
static void begin_text(const struct place *place, __u64 ns)
{
	char parent[FORMAT_MAX], name[NAME_SHOWN_MAX];

	print_time(clock_unix_time(ns));
	printf(" %s%s", sample_name(place->ifname, name),
	       place->direction == INGRESS ? ", ingress" : "");
	if (place->elsewhere)
		printf(" (netns %u)", place->netns);
	if (place->parent != TC_H_ROOT)
		printf(" (queue %s)", format_class(place->parent, parent));
	printf(": ");
}

static struct json_object *begin_json(const struct place *place, __u64 ns, const char *event)
{
	struct json_object *object = json_object_new_object();
	char parent[FORMAT_MAX];

	json_add_decimal(object, "time", JSON_SECONDS, clock_unix_time(ns));
	json_add_text(object, "dev", place->device);
	json_add_text(object, "interface", place->ifname);
	json_add_text(object, "direction", direction_name(place->direction));
	json_add_uint(object, "netns", place->netns);
	if (place->parent != TC_H_ROOT)
		json_add_text(object, "parent", format_class(place->parent, parent));
	json_add_text(object, "event", event);
	return object;
}

/* Does it follow the events of a device, or (`ifb`, or NULL) of what arrives through it? One that
 * is gone has its name in the event.
 */
static bool is_followed(struct sampler *sampler, __u32 ifindex, const char *old_name,
			const struct ifb *ifb)
{
	struct link link;
	int found = sampler_link(sampler);

	if (found > 0 && (sampler->link.ifindex == (int)ifindex ||
			  (ifb && ifb_belongs_to(ifb, (__u32)sampler->link.ifindex))))
		return true;
	return found >= 0 && !link_look((int)ifindex, &link) && !strcmp(old_name, sampler->ifname);
}

/* Where something has happened. False: nobody asks about that. */
static bool find_place(const struct follower *follower, const struct aqm *aqm,
		       const struct dualpi2_key *key, __u32 netns, const char *old_name,
		       struct place *place)
{
	const struct ifb *ifb = NULL;
	struct ifbs ifbs;

	*place = (struct place){
		/* of a link: of all its queues */
		.parent = aqm->variant == AQM_MQ ? TC_H_ROOT : key->parent,
		.netns = netns,
		.elsewhere = key->netns != follower->netns,
	};
	if (!place->elsewhere && ifbs_read(&follower->sampler->regs, &ifbs))
		ifb = ifbs_find(&ifbs, key->ifindex);
	/* An interface of another namespace: no index of ours. */
	sample_ifname(place->elsewhere ? 0 : key->ifindex, old_name, place->device);
	place->direction = sample_interface(ifb, place->device, place->ifname);
	return !follower->sampler->ifname ||
	       (!place->elsewhere && is_followed(follower->sampler, key->ifindex, old_name, ifb));
}

/* ---- what has happened --------------------------------------------------------------- */

static void print_overload(const struct follower *follower, const struct aqm *aqm,
			   const void *entry)
{
	const struct dualpi2_event *event = entry;
	const __u64 end_ns = event->start_ns + event->duration_ns;
	char duration[FORMAT_MAX];
	struct json_object *object;
	struct place place;

	if (!find_place(follower, aqm, &event->key, event->netns, event->ifname, &place))
		return;
	if (follower->json) {
		object = begin_json(&place, end_ns, event->ended ? "ended" : "began");
		json_add_decimal(object, "start", JSON_SECONDS, clock_unix_time(event->start_ns));
		json_add_uint(object, "duration", sample_us(event->duration_ns));
		json_put_line(stdout, object);
		return;
	}
	begin_text(&place, end_ns);
	if (event->ended)
		printf("overload ended after %s\n", format_delay(event->duration_ns, duration));
	else
		printf("overload began\n");
}

/* When its term ends is told at once. When it is back, no one sees before its next packet. */
static void print_conviction(const struct follower *follower, const struct aqm *aqm,
			     const void *entry)
{
	const struct dualpi2_conviction *conviction = entry;
	char name[FLOW_NAME_TEXT_MAX], term[FORMAT_MAX], delay[FORMAT_MAX];
	struct json_object *object;
	struct place place;

	if (!find_place(follower, aqm, &conviction->key, conviction->netns, conviction->ifname,
			&place))
		return;
	if (follower->json) {
		object = begin_json(&place, conviction->start_ns, "convicted");
		flows_add_conviction(object, conviction);
		json_put_line(stdout, object);
		return;
	}
	begin_text(&place, conviction->start_ns);
	printf("out of the L4S queue for %s, %s %s long: %s\n",
	       format_delay((double)(conviction->until_ns - conviction->start_ns), term),
	       conviction->c_us ? "as it made the Classic queue" : "which it made",
	       format_delay((double)flows_delay_ns(conviction), delay),
	       flow_name_text(&conviction->name, name));
}

/* Maps that keep the latest entries, each in the place of its number modulo KEPT. An entry begins
 * with its number and ends with it, where that is written first (struct dualpi2_event).
 */
#define KEPT DUALPI2_EVENTS
_Static_assert(KEPT == DUALPI2_CONVICTIONS, "one walk reads both");

struct told {
	size_t size; /* of an entry */
	void (*print)(const struct follower *follower, const struct aqm *aqm, const void *entry);
};

static const struct told told[FOLLOWED] = {
	[FOLLOWED_OVERLOAD] = { sizeof(struct dualpi2_event), print_overload },
	[FOLLOWED_CONVICTIONS] = { sizeof(struct dualpi2_conviction), print_conviction },
};

/* Its map; -1: it is not open: only the owner of the pins can read convictions. */
static int map_of(const struct registration *reg, enum followed what)
{
	return what == FOLLOWED_OVERLOAD ? reg->events : reg->convictions;
}

struct kept {
	const struct told *told;
	const struct aqm *aqm; /* whose they are */
	char *entries;
};

static const void *kept_at(const struct kept *kept, __u64 number)
{
	return kept->entries + number % KEPT * kept->told->size;
}

static __u64 number_of(const struct kept *kept, __u64 place)
{
	return *(const __u64 *)kept_at(kept, place);
}

/* Somebody writes an entry from its end on, and its number at last. */
static __u64 begun_of(const struct kept *kept, __u64 place)
{
	const char *entry = kept_at(kept, place);

	return *(const __u64 *)(entry + kept->told->size - sizeof(__u64));
}

static bool is_whole(const struct kept *kept, __u64 number)
{
	return number_of(kept, number) == number && begun_of(kept, number) == number;
}

static __u64 latest_of(const struct kept *kept)
{
	__u64 latest = 0;

	for (size_t i = 0; i < KEPT; i++)
		latest = MAX(latest, number_of(kept, i));
	return latest;
}

/* Is another CPU still writing the one behind `to->latest`, or about to? If it has not begun for a
 * whole look it never will: its place was not free (bpf/conviction.bpf.h).
 */
static bool may_come(struct followed_to *to, const struct kept *kept)
{
	const __u64 next = to->latest + 1;
	const bool was_missing = to->missing == next;

	to->missing = next;
	return number_of(kept, next) < next && (begun_of(kept, next) == next || !was_missing);
}

/* Print those behind `to->latest`, up to one that is still to come. */
static void print_new(const struct follower *follower, struct followed_to *to,
		      const struct kept *kept)
{
	const __u64 latest = latest_of(kept);

	if (latest - to->latest > KEPT) {
		verbose("%llu events came too fast to be told", latest - to->latest - KEPT);
		to->latest = latest - KEPT;
	}
	for (; to->latest < latest; to->latest++) {
		const __u64 next = to->latest + 1;

		if (is_whole(kept, next))
			kept->told->print(follower, kept->aqm, kept_at(kept, next));
		else if (may_come(to, kept))
			return;
	}
}

static bool look(struct follower *follower, size_t aqm, enum followed what, bool printed)
{
	const struct registration *reg = &follower->sampler->regs.of[aqm];
	const int map = map_of(reg, what);
	struct kept kept = { &told[what], reg->aqm,
			     map < 0 ? NULL : calloc(KEPT, told[what].size) };
	struct followed_to *to = &follower->to[what][aqm];
	int error = map < 0 ? 0 : kept.entries ? array_map_read(map, KEPT, kept.entries) : -ENOMEM;

	if (error)
		fail(-error, "cannot read the events (-v shows why)");
	else if (kept.entries && printed)
		print_new(follower, to, &kept);
	else if (kept.entries)
		to->latest = latest_of(&kept);
	free(kept.entries);
	return !error;
}

bool events_look(struct follower *follower, bool printed)
{
	for (size_t i = 0; i < follower->sampler->regs.count; i++) {
		for (enum followed what = 0; what < FOLLOWED; what++) {
			if (!look(follower, i, what, printed))
				return false;
		}
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
		for (enum followed what = 0; what < FOLLOWED; what++)
			follower->to[what][i] = (struct followed_to){};
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
