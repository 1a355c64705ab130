/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys and words. */
#ifndef WATCH_HELP_H
#define WATCH_HELP_H

/* An empty one ends them. */
struct help_row {
	const char *what, *meaning;
};

/* Rows from `line` on, below a heading. Returns the line that follows. */
int help_put(int line, const char *heading, const struct help_row *rows);

/* On the last line. */
void help_put_foot(void);

/* Of qdiscs. */
void help_draw(void);

#endif /* WATCH_HELP_H */
