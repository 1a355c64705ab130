// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The bytes of a character by its first one; 0: none begins with it (RFC 3629). */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Of so many bytes; UINT32_MAX: they are none. */
static uint32_t character(const unsigned char *bytes, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t value = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);

	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return UINT32_MAX;
	return value;
}

static bool is_control(uint32_t value)
{
	return value < 0x20 || (value >= 0x7f && value < 0xa0);
}

/* Would it be taken for an escaped byte? */
static bool is_misread(const unsigned char *text)
{
	return text[0] == '\\' && text[1] == 'x';
}

const char *clean_text(const char *text, char *clean, size_t size)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t used = 0;

	while (*from) {
		const size_t length = length_of(*from);
		const uint32_t value = length ? character(from, length) : UINT32_MAX;
		const bool is_kept = value != UINT32_MAX && !is_control(value) && !is_misread(from);
		const size_t room = is_kept ? length : sizeof("\\x00") - 1;

		if (used + room >= size)
			break;
		if (is_kept)
			memcpy(clean + used, from, length);
		else
			snprintf(clean + used, size - used, "\\x%02x", *from);
		used += room;
		from += is_kept ? length : 1;
	}
	clean[used] = '\0';
	return clean;
}
