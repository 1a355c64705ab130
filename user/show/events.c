// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/pins.h"
#include "sample/clock.h"
#include "sample/sample.h"
#include "show/json.h"

/* How long it takes to notice that the kind is no longer registered. */
#define LOOK_NS DUALPI2_NSEC_PER_SEC

struct follower {
	__u64 netns;
	unsigned int ifindex; /* 0: all */
	bool json;
	bool skip; /* what happened before we came */
};

/* "2026-01-31 12:00:00.250" of local time. */
static void print_time(double unix_time)
{
	const time_t seconds = (time_t)unix_time;
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%F %T", localtime_r(&seconds, &tm));
	printf("%s.%03d", text, (int)((unix_time - (double)seconds) * 1000));
}

static void print_text(const struct dualpi2_event *event, const char *ifname, bool elsewhere)
{
	char parent[FORMAT_MAX], duration[FORMAT_MAX];

	print_time(clock_unix_time(event->start_ns + event->duration_ns));
	printf(" %s", ifname);
	if (elsewhere)
		printf(" (netns %u)", event->netns);
	if (event->key.parent != TC_H_ROOT)
		printf(" (queue %s)", format_class(event->key.parent, parent));
	if (event->ended)
		printf(": overload ended after %s\n", format_delay(event->duration_ns, duration));
	else
		printf(": overload began\n");
}

static void print_json(const struct dualpi2_event *event, const char *ifname)
{
	struct json_object *object = json_object_new_object();
	char parent[FORMAT_MAX];

	json_add_decimal(object, "time", JSON_SECONDS,
			 clock_unix_time(event->start_ns + event->duration_ns));
	json_add_text(object, "dev", ifname);
	json_add_uint(object, "netns", event->netns);
	if (event->key.parent != TC_H_ROOT)
		json_add_text(object, "parent", format_class(event->key.parent, parent));
	json_add_text(object, "event", event->ended ? "ended" : "began");
	json_add_decimal(object, "start", JSON_SECONDS, clock_unix_time(event->start_ns));
	json_add_uint(object, "duration", sample_us(event->duration_ns));
	json_put_line(stdout, object);
}

/* Called by libbpf for each event; not 0 ends the reading. */
static int on_event(void *data, void *record, size_t size)
{
	const struct follower *follower = data;
	const struct dualpi2_event *event = record;
	char ifname[IF_NAMESIZE];
	bool elsewhere;

	if (follower->skip || size < sizeof(*event))
		return 0;
	elsewhere = event->key.netns != follower->netns;
	if (follower->ifindex && (elsewhere || follower->ifindex != event->key.ifindex))
		return 0;
	/* An interface of another namespace: no index of ours. */
	sample_ifname(elsewhere ? 0 : event->key.ifindex, event->ifname, ifname);
	if (follower->json)
		print_json(event, ifname);
	else
		print_text(event, ifname, elsewhere);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static __u32 map_id(int fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return bpf_map_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* Is the map that we read no longer the one of the registration? Not if that cannot be seen. */
static bool is_gone(const struct registration *reg)
{
	int pinned = pin_open(reg->aqm->name, "dualpi2_events");
	__u32 id, current;

	if (pinned < 0)
		return pinned == -ENOENT;
	id = map_id(reg->events);
	current = map_id(pinned);
	close(pinned);
	return id && current && id != current;
}

static bool are_all_gone(const struct registrations *regs)
{
	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]) && !is_gone(&regs->of[i]))
			return false;
	}
	return true;
}

static bool read_events(struct pace *pace, struct ring_buffer *ring,
			const struct registrations *regs)
{
	enum pace_event event;

	while ((event = pace_wait(pace, ring_buffer__epoll_fd(ring))) != PACE_END) {
		int count = event == PACE_INPUT ? ring_buffer__consume(ring) : 0;

		if (count == -EIO)
			return fail(EIO, "cannot write to the standard output");
		if (count < 0)
			return fail(-count, "cannot read the events (-v shows why)");
		if (event == PACE_DUE && are_all_gone(regs))
			return fail(0,
				    "bpf_dualpi2 was unloaded from the last interface: there will "
				    "be no more events");
	}
	return true;
}

/* The buffers of all AQMs that are registered now; NULL, which is reported. */
static struct ring_buffer *open_buffers(const struct registrations *regs, struct follower *follower)
{
	struct ring_buffer *ring = NULL;
	int error = 0;

	for (size_t i = 0; !error && i < regs->count; i++) {
		int events = regs->of[i].events;

		if (events < 0)
			continue;
		if (ring)
			error = ring_buffer__add(ring, events, on_event, follower);
		else
			ring = ring_buffer__new(events, on_event, follower, NULL);
		if (!ring)
			error = -errno;
	}
	if (!error)
		return ring;
	ring_buffer__free(ring);
	fail(-error, "cannot open the ring buffer of the events (-v shows why)");
	return NULL;
}

bool events_follow(const struct registrations *regs, unsigned int ifindex, bool json)
{
	struct follower follower = { .ifindex = ifindex, .json = json, .netns = netns_current() };
	struct ring_buffer *ring;
	struct pace pace;
	bool followed;

	if (!follower.netns || !pace_start(&pace, LOOK_NS))
		return false;
	ring = open_buffers(regs, &follower);
	if (!ring)
		return false;
	follower.skip = true;
	ring_buffer__consume(ring);
	follower.skip = false;
	followed = read_events(&pace, ring, regs);
	ring_buffer__free(ring);
	return followed;
}
