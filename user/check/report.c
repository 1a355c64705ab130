// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LABEL_WIDTH 9 /* characters, with the space behind it */
#define TEXT_MAX 512

/* Characters of a line that are left for the text; 0: no limit, for it is no terminal. */
static size_t text_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col <= LABEL_WIDTH)
		return 0;
	return size.ws_col - LABEL_WIDTH;
}

/* Characters of the words that fit in a line; of the first one if it does not. */
static size_t words_that_fit(const char *text, size_t width)
{
	size_t length = strlen(text);

	if (!width || length <= width)
		return length;
	for (length = width; length; length--)
		if (text[length] == ' ')
			return length;
	return strcspn(text, " ");
}

bool report_line(enum report_kind kind, const char *format, ...)
{
	static const char *const labels[] = {
		[REPORT_OK] = "ok",
		[REPORT_HINT] = "hint",
		[REPORT_WARNING] = "WARNING",
		[REPORT_MISSING] = "MISSING",
	};
	const size_t width = text_width();
	const char *label = labels[kind], *rest;
	char text[TEXT_MAX];
	va_list args;
	size_t length;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (rest = text; *rest; rest += length + strspn(rest + length, " ")) {
		length = words_that_fit(rest, width);
		printf("%-*s%.*s\n", LABEL_WIDTH, label, (int)length, rest);
		label = "";
	}
	return kind != REPORT_MISSING;
}
