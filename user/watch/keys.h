/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is pressed, of the keys that only qdiscs have, and what it changes. */
#ifndef WATCH_KEYS_H
#define WATCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/sampler.h"
#include "watch/history.h"
#include "watch/live.h"

struct watcher {
	struct live live; /* first */
	struct sampler *sampler;
	struct history history;
	size_t selected; /* of the newest sample */
	bool shows_list; /* of all, if there are several, and not the selected one in full */
};

/* A key as curses has it. */
void key_pressed(struct live *live, int key);

#endif /* WATCH_KEYS_H */
