/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why something cannot be done on an interface: --check shows it, all else refuses. */
#ifndef OBSTACLE_H
#define OBSTACLE_H

#include <stdbool.h>

struct obstacle {
	char text[512]; /* cause and remedy; empty: nothing is in the way */
	bool is_usage;	/* wrong usage */
};

/* Set the text (printf-like). */
void obstacle_set(struct obstacle *obstacle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True if nothing is in the way; else it is reported (message.h). The message begins
 * with `label`.
 */
bool obstacle_absent(const struct obstacle *obstacle, const char *label);

#endif /* OBSTACLE_H */
