// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "cli/message.h"
#include "kernel/running.h"
#include "prague/devices.h"

int own_tag(char tag[OWN_TAG_MAX])
{
	unsigned int bits;

	if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		return errno;
	snprintf(tag, OWN_TAG_MAX, "%08x", bits);
	return 0;
}

bool own_prague(const char *tag, const char *devices, const struct prague_config *config,
		char name[PRAGUE_NAME_MAX], struct programs *programs)
{
	int own = kernel_has_congestion(PRAGUE_NAME);

	*programs = PROGRAMS_NONE;
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME);
	/* If `tcp-prague on` is at work, what the kernel has may be that: ours does not depend on
	 * how long it stays.
	 */
	if (own > 0 && programs_open(programs) == 0)
		return true;
	programs_close(programs);
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME ".%s", tag);
	return programs_load(name, NULL, programs) && programs_configure(programs, config) &&
	       devices_attach(programs, devices, false);
}
