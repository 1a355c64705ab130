/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is pressed, and what it changes. */
#ifndef WATCH_KEYS_H
#define WATCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/clock.h"
#include "sample/sampler.h"
#include "watch/history.h"

struct watcher {
	struct sampler *sampler;
	struct pace pace;
	struct history history;
	size_t selected; /* of the newest sample */
	bool shows_list; /* of all, if there are several, and not the selected one in full */
	bool shows_help; /* instead of either */
	bool is_paused;	 /* no samples are taken */
	bool is_done;
};

/* A key as curses has it. */
void key_pressed(struct watcher *watcher, int key);

#endif /* WATCH_KEYS_H */
