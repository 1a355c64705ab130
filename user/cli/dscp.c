// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/dscp.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/format.h"

struct dscp {
	const char *name;
	unsigned int value;
};

/* RFC 2474, 2597, 3246, 5865, 8622; 45 is NQB's. The first name of a value is the one shown. */
static const struct dscp dscps[] = {
	{ "df", 0 },	{ "cs0", 0 },	{ "cs1", 8 },	{ "cs2", 16 },	       { "cs3", 24 },
	{ "cs4", 32 },	{ "cs5", 40 },	{ "cs6", 48 },	{ "cs7", 56 },	       { "af11", 10 },
	{ "af12", 12 }, { "af13", 14 }, { "af21", 18 }, { "af22", 20 },	       { "af23", 22 },
	{ "af31", 26 }, { "af32", 28 }, { "af33", 30 }, { "af41", 34 },	       { "af42", 36 },
	{ "af43", 38 }, { "le", 1 },	{ "va", 44 },	{ "voice-admit", 44 }, { "nqb", 45 },
	{ "ef", 46 },
};

#define N_DSCP_NAMES (sizeof(dscps) / sizeof(dscps[0]))
#define DSCP_MAX 63

static const struct unit whole[] = { { "", 1 }, { NULL, 0 } };

static bool read_dscp(const char *word, uint64_t *dscp)
{
	for (size_t i = 0; i < N_DSCP_NAMES; i++) {
		if (!strcasecmp(dscps[i].name, word)) {
			*dscp = dscps[i].value;
			return true;
		}
	}
	return !strchr(word, '.') && number_read(word, whole, 1, dscp) && *dscp <= DSCP_MAX;
}

bool dscps_read(const char *text, uint64_t *set)
{
	char *rest = strdupa(text), *word;
	uint64_t dscp;

	*set = 0;
	if (!strcasecmp(text, "none"))
		return true;
	while ((word = strsep(&rest, ","))) {
		if (!read_dscp(word, &dscp))
			return false;
		*set |= 1ULL << dscp;
	}
	return true;
}

const char *dscps_format(uint64_t set, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (unsigned int dscp = 0; dscp <= DSCP_MAX; dscp++) {
		char number[4];
		const char *name = number;

		if (!(set >> dscp & 1))
			continue;
		snprintf(number, sizeof(number), "%u", dscp);
		for (size_t i = N_DSCP_NAMES; i--;) {
			if (dscps[i].value == dscp)
				name = dscps[i].name;
		}
		used += snprintf(text + used, size - used, "%s%s", used ? "," : "", name);
	}
	return text;
}
