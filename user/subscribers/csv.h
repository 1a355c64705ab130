/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comma-separated values (RFC 4180), as spreadsheets and people write them. */
#ifndef SUBSCRIBERS_CSV_H
#define SUBSCRIBERS_CSV_H

#include <stdbool.h>
#include <stddef.h>

#define CSV_CELLS_MAX 64 /* of a row; what is behind is left out */

struct csv {
	const char *path;
	char *text;	   /* what is left of it */
	unsigned int line; /* where that begins */
	char *cell[CSV_CELLS_MAX];
	size_t cells;
};

/* Go on behind lines that are empty or begin with a #. */
void csv_pass_over(struct csv *csv);

/* Behind them, take a row and cut it into cells, without quotes and the blanks around them. It is
 * the place of the messages that follow (message.h). 0: there is none; -1: a quote has no end,
 * which is reported.
 */
int csv_next(struct csv *csv);

#endif /* SUBSCRIBERS_CSV_H */
