// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parsers of values: they read no further than the text, leave the result alone if they
 * refuse it, and what is formatted reads back as the same.
 */
#include "fuzz.h"

#include "cli/value.h"
#include "dualpi2.h"

/* No option takes a longer time: 2^32 us. */
#define TIME_MAX_NS (UINT32_MAX * DUALPI2_NSEC_PER_USEC)

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aULL

static void check(enum value_kind kind, const char *text)
{
	const struct option_spec spec = { .kind = kind, .max = INT64_MAX };
	char formatted[OPTION_TEXT_MAX];
	uint64_t value = UNTOUCHED, again;

	if (value_read(&spec, text, &value) != VALUE_OK) {
		ALWAYS(value == UNTOUCHED);
		return;
	}
	value_format(&spec, value, formatted);
	if ((kind == KIND_TIME && value <= TIME_MAX_NS) ||
	    (kind == KIND_GAIN && value <= UINT32_MAX))
		ALWAYS(value_read(&spec, formatted, &again) == VALUE_OK && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum value_kind kinds[] = {
		KIND_NUMBER, KIND_RATE,	    KIND_TIME,	KIND_SIZE, KIND_PERCENT,
		KIND_GAIN,   KIND_OVERHEAD, KIND_SHARE, KIND_STEP, KIND_DSCPS,
	};
	char *text = fuzz_text(data, size);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check(kinds[i], text);
	free(text);
	return 0;
}
