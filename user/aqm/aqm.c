// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/aqm.h"

#include <string.h>

const struct aqm *aqm_named(const char *name)
{
	const struct aqm *const *aqm = aqms;

	while (*aqm && strcmp((*aqm)->name, name))
		aqm++;
	return *aqm;
}

const struct aqm *aqm_of_kind(const char *kind)
{
	const struct aqm *const *aqm = aqms;

	while (*aqm && strcmp((*aqm)->kind, kind))
		aqm++;
	return *aqm;
}
