// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/spec.h"

#include <string.h>

const struct option_spec *option_named(const struct option_spec *options, const char *name)
{
	while (!options->name || strcmp(options->name, name))
		options++;
	return options;
}

bool option_is_default(const struct option_spec *options, const struct option_spec *flag)
{
	while (options->aqm != flag->aqm || options->offset != flag->offset || !options->size ||
	       option_is_flag(options))
		options++;
	return options->value == flag->value;
}
