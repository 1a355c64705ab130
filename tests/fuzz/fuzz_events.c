// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The events and convictions that the programs keep, as text and as JSON: the input is, after a
 * byte of switches, what is in each map. There is no map: the function of libbpf that would read it
 * is here.
 */
#include "fuzz.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "sample/sampler.h"
#include "show/show.h"

enum { EVENTS, CONVICTIONS }; /* fds */

static const uint8_t *kept;
static size_t kept_size;

/* As the real one: all that there is room for; its end may be told, or not. */
int bpf_map_lookup_batch(int map, void *from, void *last, void *places, void *events, __u32 *count,
			 const struct bpf_map_batch_opts *options)
{
	const size_t size = map == CONVICTIONS ? sizeof(struct dualpi2_conviction)
					       : sizeof(struct dualpi2_event);
	const size_t room = *count * size;

	(void)from;
	(void)last;
	(void)places;
	(void)options;
	memset(events, 0, room);
	memcpy(events, kept, kept_size < room ? kept_size : room);
	return kept_size % 2 ? -ENOENT : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sampler sampler = {
		.regs = {
			.count = 1,
			.of[0] = { .aqm = aqm_default(), .convictions = CONVICTIONS },
		},
	}; /* by their fds, which nobody reads */
	struct follower follower = { .sampler = &sampler };

	if (!size)
		return 0;
	follower.json = data[0] & 1;
	sampler.ifname = data[0] & 2 ? "eth0" : NULL;
	kept = data + 1;
	kept_size = size - 1;
	events_look(&follower, true);
	ALWAYS(events_look(&follower, true));
	return 0;
}
