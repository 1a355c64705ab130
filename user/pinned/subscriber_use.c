// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/subscriber_use.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

#define AT_ONCE 256 /* DualQs; each has more than a kilobyte */

/* What one call takes. */
struct batch {
	__u32 numbers[AT_ONCE];
	char *dualqs;
};

/* 0, or -errno. */
static int read_all(const struct subscriber_maps *maps, struct batch *batch,
		    struct subscriber_use *of)
{
	__u32 last = 0, count;
	int error = 0;

	for (__u32 done = 0; !error && done <= maps->room; done += count) {
		count = AT_ONCE;
		error = bpf_map_lookup_batch(maps->plan_dualqs, done ? &last : NULL, &last,
					     batch->numbers, batch->dualqs, &count, NULL);
		if (error == -ENOENT && done + count > maps->room) /* that is their end */
			error = 0;
		for (__u32 i = 0; !error && i < count; i++)
			memcpy(&of[done + i], batch->dualqs + (size_t)i * maps->dualq_size,
			       sizeof(*of));
	}
	return error;
}

struct subscriber_use *subscriber_use_read(const struct subscriber_maps *maps)
{
	struct batch batch = { .dualqs = malloc((size_t)AT_ONCE * maps->dualq_size) };
	struct subscriber_use *of = calloc((size_t)maps->room + 1, sizeof(*of));
	int error = -ENOMEM;

	if (batch.dualqs && of)
		error = read_all(maps, &batch, of);
	free(batch.dualqs);
	if (expect_known(error, "what subscribers use") >= 0)
		return of;
	free(of);
	return NULL;
}
