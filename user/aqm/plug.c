// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One AQM for the rest of user/, which names none: compiled once for each, with AQM_HEADER
 * (include/aqm/NAME.h), AQM_SKELETON (its BPF object) and AQM_SYMBOL (aqm_NAME).
 */
#include "aqm/aqm.h"

#include AQM_HEADER
#include AQM_SKELETON

const struct aqm AQM_SYMBOL = {
	.name = AQM_NAME,
	.kind = AQM_KIND,
	.about = AQM_ABOUT,
	.object = dualpi2__elf_bytes,
};
