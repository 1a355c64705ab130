// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/clean.h"
#include "cli/format.h"

static bool is_checking;

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

bool report_line(enum report_kind kind, const char *format, ...)
{
	static const char *const labels[] = {
		[REPORT_OK] = "ok",
		[REPORT_HINT] = "hint",
		[REPORT_WARNING] = "WARNING",
		[REPORT_MISSING] = "MISSING",
	};
	const size_t width = text_width();
	char text[TEXT_MAX], clean[CLEAN_MAX(TEXT_MAX)];
	const char *label = labels[kind], *rest;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rest = clean_text(text, clean, sizeof(clean));
	while (*rest) {
		int length;
		const char *next = format_line(rest, width, &length);

		printf("%-*s%.*s\n", LABEL_WIDTH, label, length, rest);
		rest = next;
		label = "";
	}
	return kind != REPORT_MISSING;
}

void report_begin(void)
{
	is_checking = true;
}

bool report_obstacle(enum status status, int error, const char *label, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (is_checking)
		return report_line(REPORT_MISSING, "%s: %s", label,
				   message_shortage(error) ?: text);
	return message_print(status, error, "%s: %s", label, text);
}

void report_hint(const char *text)
{
	report_line(REPORT_HINT, "%s", text);
}
