// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parsers of values: they read no further than the text, leave the result alone if they
 * refuse it, and what is formatted reads back as the same.
 */
#include "fuzz.h"

#include <stdbool.h>

#include "dualpi2.h"
#include "cli/format.h"
#include "cli/parse.h"

/* No option takes a longer time: 2^32 us. */
#define TIME_MAX_NS (UINT32_MAX * DUALPI2_NSEC_PER_USEC)

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aULL

static void check(bool (*parse)(const char *, uint64_t *), const char *text)
{
	uint64_t value = UNTOUCHED;

	if (!parse(text, &value))
		ALWAYS(value == UNTOUCHED);
}

static void check_formatted(const char *text)
{
	char formatted[FORMAT_MAX];
	uint64_t value, again;

	if (parse_time(text, &value) && value <= TIME_MAX_NS)
		ALWAYS(parse_time(format_time(value, formatted), &again) && again == value);
	if (parse_gain(text, &value) && value <= UINT32_MAX)
		ALWAYS(parse_gain(format_gain(value, formatted), &again) && again == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool (*const parsers[])(const char *, uint64_t *) = {
		parse_uint,  parse_rate, parse_time,  parse_size,    parse_percent,
		parse_share, parse_gain, parse_dscps, parse_packets,
	};
	char *text = fuzz_text(data, size);
	int64_t number = (int64_t)UNTOUCHED;
	uint64_t step = UNTOUCHED;
	bool in_packets = false;

	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++)
		check(parsers[i], text);
	if (!parse_int(text, &number))
		ALWAYS(number == (int64_t)UNTOUCHED);
	if (!parse_step_thresh(text, &step, &in_packets))
		ALWAYS(step == UNTOUCHED);
	check_formatted(text);
	free(text);
	return 0;
}
