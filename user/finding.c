// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>

bool finding_show(enum finding finding, const char *format, ...)
{
	static const char *const labels[] = {
		[FINDING_OK] = "ok",
		[FINDING_HINT] = "hint",
		[FINDING_WARNING] = "WARNING",
		[FINDING_MISSING] = "MISSING",
	};
	va_list args;

	printf("%-9s", labels[finding]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return finding != FINDING_MISSING;
}
