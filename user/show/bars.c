// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

/* Characters that are filled by 0, 1, ... of `steps` parts. */
struct glyphs {
	int steps;
	const char *rightward[9], *upward[9];
};

static const struct glyphs blocks = {
	.steps = 8,
	.rightward = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" },
	.upward = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
};

static const struct glyphs ascii = {
	.steps = 3,
	.rightward = { " ", " ", "-", "#" },
	.upward = { " ", ".", ":", "#" },
};

static const struct glyphs *glyphs = &ascii;

void bars_init(void)
{
	setlocale(LC_CTYPE, "");
	glyphs = strcmp(nl_langinfo(CODESET), "UTF-8") ? &ascii : &blocks;
}

/* How many parts of a bar are filled. */
static int filled(double value, int length)
{
	const int parts = length * glyphs->steps;

	if (!(value > 0)) /* a NaN as well */
		return 0;
	if (value >= 1)
		return parts;
	return (int)(value * parts + 0.5);
}

/* What of them is left for the character at `place`. */
static int part_of(int parts, int place)
{
	int left = parts - place * glyphs->steps;

	if (left < 0)
		return 0;
	return left < glyphs->steps ? left : glyphs->steps;
}

const char *bar_across(double value, int width, char *text)
{
	const int parts = filled(value, width);
	size_t used = 0;

	for (int i = 0; i < width && i < BAR_WIDTH_MAX; i++) {
		const char *glyph = glyphs->rightward[part_of(parts, i)];

		memcpy(text + used, glyph, strlen(glyph));
		used += strlen(glyph);
	}
	text[used] = '\0';
	return text;
}

const char *bar_upward(double value, int height, int row)
{
	int parts = filled(value, height);

	if (!parts && value > 0)
		parts = 1;
	return glyphs->upward[part_of(parts, row)];
}
