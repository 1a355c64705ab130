/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A member of a struct by its place in it: unsigned, of 1, 2, 4 or 8 bytes. */
#ifndef MEMBER_H
#define MEMBER_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where a number has its low bytes. */
static inline char *member_low(uint64_t *number, size_t size)
{
	return (char *)number + (BYTE_ORDER == BIG_ENDIAN ? sizeof(*number) - size : 0);
}

static inline uint64_t member_get(const void *of, size_t offset, size_t size)
{
	uint64_t value = 0;

	memcpy(member_low(&value, size), (const char *)of + offset, size);
	return value;
}

static inline void member_set(void *of, size_t offset, size_t size, uint64_t value)
{
	memcpy((char *)of + offset, member_low(&value, size), size);
}

#endif /* MEMBER_H */
