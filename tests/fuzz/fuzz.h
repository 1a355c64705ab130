/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every fuzz target includes. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Once, not for each input. */
__attribute__((constructor)) static void begin_messages(void)
{
	message_init("fuzz");
}

/* A property that holds whatever the input is; not assert(), which NDEBUG takes away. */
#define ALWAYS(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* A terminated copy of the input, exactly as long as it is, so that a byte read behind it is
 * seen. free() it.
 */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	ALWAYS(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif /* FUZZ_H */
