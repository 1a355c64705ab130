// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/subscribers.h"

#include <stdlib.h>
#include <sys/param.h>

#include "check/report.h"
#include "cli/message.h"

/* Room for all of them twice, so that nobody waits for a number when all get other names. */
#define ROOM_LEAST 1024
#define ROOM_FACTOR 2

static bool is_up(const struct dualpi2_params *params)
{
	return params->per_host == DUALPI2_HOSTS_SRC;
}

/* ---- new maps -------------------------------------------------------------------- */

static bool fill(const struct subscriber_maps *maps, struct subscribers *wanted)
{
	const struct subscribers nobody = {};
	struct subscriber_changes changes;
	bool is_filled;

	if (!subscribers_compare(&nobody, wanted, maps->room, &changes))
		return false;
	is_filled = in_force_change(maps, &changes);
	free(changes.of);
	return is_filled;
}

bool subscribers_make(const struct registration *reg, struct subscribers *wanted,
		      const struct dualpi2_params *params, struct subscriber_maps *maps)
{
	struct subscribers nobody = {};
	size_t room;

	*maps = SUBSCRIBER_MAPS_NONE;
	if (reg->aqm->variant != AQM_SUBSCRIBERS)
		return true;
	wanted = wanted ?: &nobody;
	room = MAX(wanted->count * ROOM_FACTOR, ROOM_LEAST);
	subscribers_keep_direction(wanted, is_up(params));
	return subscriber_maps_make(reg, (__u32)MIN(room, SUBSCRIBERS_ROOM_MAX), maps) &&
	       fill(maps, wanted);
}

bool subscribers_put(const struct registration *reg, const struct dualpi2_key *key,
		     const struct subscriber_maps *maps)
{
	return reg->aqm->variant != AQM_SUBSCRIBERS || subscriber_maps_put(reg, key, maps);
}

/* ---- a live qdisc ---------------------------------------------------------------- */

static bool has_room(const struct target *target, const struct subscribers *wanted, __u32 room)
{
	return wanted->count <= room ||
	       report_obstacle(STATUS_FAILURE, 0, target->label,
			       "has room for %u subscribers and parents as long as it is attached, "
			       "and the file has %zu: first " TARGET_UNLOAD,
			       room, wanted->count, TARGET_OPTIONS_OF(target));
}

bool subscribers_have_room(const struct registration *reg, const struct target *target,
			   const struct subscribers *wanted)
{
	struct subscriber_maps maps;
	int found = 0;
	bool fits;

	if (!wanted || tree_aqm(&target->tree) != reg->aqm)
		return true;
	found = subscriber_maps_open(reg, &target->key, &maps);
	fits = !found || (found > 0 && has_room(target, wanted, maps.room));
	subscriber_maps_close(&maps);
	return fits;
}

bool subscribers_look(const struct registration *reg, const struct target *target,
		      struct subscribers *wanted, const struct dualpi2_params *params,
		      struct subscribers_update *update)
{
	int found;

	if (reg->aqm->variant != AQM_SUBSCRIBERS || !wanted)
		return true;
	found = subscriber_maps_open(reg, &target->key, &update->maps);
	if (found < 0)
		return false;
	if (!found) {
		subscriber_maps_close(&update->maps);
		update->is_new = true;
		return subscribers_make(reg, wanted, params, &update->maps);
	}
	subscribers_keep_direction(wanted, is_up(params));
	return has_room(target, wanted, update->maps.room) &&
	       in_force_read(&update->maps, &update->in_force) &&
	       subscribers_compare(&update->in_force, wanted, update->maps.room, &update->changes);
}

/* What failed is reported already. */
static void go_back(struct subscribers_update *update)
{
	struct subscriber_changes changes = {};
	struct subscribers now;

	if (in_force_read(&update->maps, &now) &&
	    subscribers_compare(&now, &update->in_force, update->maps.room, &changes))
		in_force_change(&update->maps, &changes);
	free(changes.of);
	subscribers_free(&now);
}

bool subscribers_do(const struct registration *reg, const struct target *target,
		    struct subscribers_update *update)
{
	if (update->is_new)
		return subscriber_maps_put(reg, &target->key, &update->maps);
	if (update->maps.names < 0 || in_force_change(&update->maps, &update->changes))
		return true;
	go_back(update);
	return false;
}

void subscribers_update_free(struct subscribers_update *update)
{
	free(update->changes.of);
	subscribers_free(&update->in_force);
	subscriber_maps_close(&update->maps);
}

bool subscribers_read_live(const struct registration *reg, const struct dualpi2_key *key,
			   struct subscribers *list)
{
	struct subscriber_maps maps;
	int found;

	*list = (struct subscribers){};
	if (reg->aqm->variant != AQM_SUBSCRIBERS)
		return true;
	found = subscriber_maps_open(reg, key, &maps);
	if (found > 0 && !in_force_read(&maps, list))
		found = -1;
	subscriber_maps_close(&maps);
	return found >= 0;
}

bool subscribers_may_change(const struct target *target, const struct request *request,
			    const struct aqm *aqm, const struct dualpi2_params *former,
			    const struct dualpi2_params *wanted)
{
	return aqm->variant != AQM_SUBSCRIBERS || request->subscribers ||
	       is_up(former) == is_up(wanted) ||
	       fail_usage("%s: --per-host: the plans are those of the other direction: give "
			  "--subscribers FILE, too",
			  target->label);
}

/* ---- one plan -------------------------------------------------------------------- */

static bool set_rate(const struct registrations *regs, const struct target *target,
		     const char *name, __u64 rate)
{
	const struct aqm *aqm = tree_aqm(&target->tree);
	struct subscriber_maps maps = SUBSCRIBER_MAPS_NONE;
	int found = 0;

	if (aqm && aqm->variant == AQM_SUBSCRIBERS && !tree_is_mq(&target->tree))
		found = subscriber_maps_open(registration_of(regs, aqm), &target->key, &maps);
	if (!found)
		fail(0,
		     "%s: has no subscribers: `dualpi2-load " TARGET_OPTIONS " --subscribers FILE`",
		     target->label, TARGET_OPTIONS_OF(target));
	else if (found > 0) {
		found = in_force_set_rate(&maps, name, rate);
		if (!found)
			fail(0, "%s: %s: no subscriber or parent has this name", target->label,
			     name);
	}
	subscriber_maps_close(&maps);
	return found > 0;
}

bool subscribers_set_rate(const struct registrations *regs, const char *ifname,
			  enum direction direction, const char *name, __u64 rate)
{
	struct feeder feeder;
	TARGET target = {};

	if (direction == EGRESS)
		return target_find(ifname, &target) && set_rate(regs, &target, name, rate);
	if (!feeder_find(ifname, &feeder))
		return false;
	if (!feeder.ifb.ifindex)
		return fail(0, "%s: --ingress is not in use on it", ifname);
	return target_find_ifb(&feeder, &target) && set_rate(regs, &target, name, rate);
}
