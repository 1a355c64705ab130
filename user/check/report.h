/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was found on the way: lines of --check. What stands in the way is a failure without it. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#include "cli/message.h"

enum report_kind {
	REPORT_OK,
	REPORT_HINT,	/* it works; maybe not for what it is meant */
	REPORT_WARNING, /* it works, with something left out */
	REPORT_MISSING, /* it does not work */
};

/* Print a line (printf-like, without a newline): what was found, with the remedy if one is
 * needed. False if it stands in the way. A terminal gets as many lines as the text takes there.
 */
bool report_line(enum report_kind kind, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A hint that is just a text. */
void report_hint(const char *text);

/* --check: from now on obstacles are shown. */
void report_begin(void);

/* Something stands in the way (printf-like): the cause and what helps, behind `label`. --check
 * shows it as MISSING; all else fails with it, with this exit status, and the errno (or 0) of what
 * failed. Always false.
 */
bool report_obstacle(enum status status, int error, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif /* REPORT_H */
