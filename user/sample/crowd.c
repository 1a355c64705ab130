// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/crowd.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/message.h"
#include "cli/privilege.h"
#include "pinned/maps.h"
#include "pinned/pin_dir.h"
#include "pinned/subscriber_use.h"
#include "sample/clock.h"

/* A number may have been somebody else's, or have had no packet yet. */
static void forget_others(const struct subscribers *list, struct subscriber_use *use)
{
	SUBSCRIBERS_FOR(each, list) {
		if (use[each->number].owner != each->owner)
			use[each->number] = (struct subscriber_use){ .owner = each->owner };
	}
}

/* What nobody's addresses use is a copy, which is as new as the statistics. */
static bool read_use(struct crowd *crowd)
{
	crowd->use = subscriber_use_read(&crowd->maps);
	crowd->time_ns = clock_now();
	if (!crowd->use)
		return false;
	forget_others(&crowd->list, crowd->use);
	crowd_sum_up(&crowd->list, crowd->use);
	return true;
}

static bool read_list(struct crowd *crowd, bool with_prefixes)
{
	if (!with_prefixes)
		return in_force_read_plans(&crowd->maps, &crowd->list);
	if (!in_force_read(&crowd->maps, &crowd->list))
		return false;
	crowd->prefixes = subscribers_by_owner(&crowd->list);
	return crowd->prefixes;
}

/* 1; 0: the qdisc has none; -1: it is reported why they cannot be read. */
static int read_crowd(const struct registrations *regs, const struct sample *sample,
		      bool with_prefixes, struct crowd *crowd)
{
	const struct registration *reg = registration_of(regs, sample->aqm);
	char place[PLACE_MAX];
	int found;

	*crowd = (struct crowd){ .sample = sample, .maps = SUBSCRIBER_MAPS_NONE };
	if (sample->aqm->variant != AQM_SUBSCRIBERS || sample->is_sum)
		return 0;
	if (reg->names < 0) {
		fail(0, "%s: its subscribers only the owner of " PIN_DIR " may see: run it %s",
		     sample_place(sample, place),
		     privilege_as_root(PRIVILEGE_FILES | PRIVILEGE_LOAD));
		return -1;
	}
	found = subscriber_maps_open(reg, &sample->key, &crowd->maps);
	if (found <= 0)
		return found;
	return read_list(crowd, with_prefixes) && read_use(crowd) ? 1 : -1;
}

static void crowd_free(struct crowd *crowd)
{
	subscriber_maps_close(&crowd->maps);
	free(crowd->prefixes);
	free(crowd->use);
	free(crowd->recent);
	subscribers_free(&crowd->list);
}

bool crowds_read(const struct registrations *regs, const struct samples *list, bool with_prefixes,
		 struct crowds *crowds)
{
	*crowds = (struct crowds){ .of = calloc(list->count + 1, sizeof(*crowds->of)) };
	if (!crowds->of)
		return fail(ENOMEM, "no memory for subscribers");
	for (size_t i = 0; i < list->count; i++) {
		struct crowd *crowd = &crowds->of[crowds->count];
		const int found = read_crowd(regs, &list->items[i], with_prefixes, crowd);

		if (found <= 0)
			crowd_free(crowd);
		if (found < 0)
			return false;
		crowds->count += found;
	}
	return true;
}

bool crowds_read_again(const struct registrations *regs, struct crowds *crowds)
{
	bool done = true;

	stats_refresh_all(regs);
	for (size_t i = 0; done && i < crowds->count; i++) {
		struct crowd *crowd = &crowds->of[i];
		const struct crowd earlier = *crowd;

		crowd->recent = NULL;
		done = read_use(crowd) && crowd_since(crowd, &earlier);
		free(earlier.use);
		free(earlier.recent);
	}
	return done;
}

void crowds_free(struct crowds *crowds)
{
	while (crowds->count)
		crowd_free(&crowds->of[--crowds->count]);
	free(crowds->of);
	*crowds = (struct crowds){};
}
