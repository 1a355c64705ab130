/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A member of a struct by its place in it: unsigned, of 1, 2, 4 or 8 bytes. */
#ifndef MEMBER_H
#define MEMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

union member {
	uint8_t one;
	uint16_t two;
	uint32_t four;
	uint64_t eight;
};

static inline uint64_t member_get(const void *of, size_t offset, size_t size)
{
	union member member = {};

	memcpy(&member, (const char *)of + offset, size);
	if (size == 8)
		return member.eight;
	return size == 4 ? member.four : size == 2 ? member.two : member.one;
}

static inline void member_set(void *of, size_t offset, size_t size, uint64_t value)
{
	union member member = { .eight = value };

	if (size == 4)
		member.four = (uint32_t)value;
	else if (size == 2)
		member.two = (uint16_t)value;
	else if (size == 1)
		member.one = (uint8_t)value;
	memcpy((char *)of + offset, &member, size);
}

#endif /* MEMBER_H */
