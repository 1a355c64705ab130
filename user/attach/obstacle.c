// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/obstacle.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/message.h"

void obstacle_set(struct obstacle *obstacle, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(obstacle->text, sizeof(obstacle->text), format, args);
	va_end(args);
}

bool obstacle_absent(const struct obstacle *obstacle, const char *label)
{
	if (!obstacle->text[0])
		return true;
	if (obstacle->is_usage)
		return fail_usage("%s: %s", label, obstacle->text);
	return fail(0, "%s: %s", label, obstacle->text);
}
