// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "cli/message.h"
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
	*programs = PROGRAMS_NONE;
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME);
	/* One that is somebody's, or of `tcp-prague on`, may end before us. */
	if (prague_is_kernels() > 0)
		return true;
	snprintf(name, PRAGUE_NAME_MAX, PRAGUE_NAME ".%s", tag);
	return programs_load(name, NULL, programs) && programs_configure(programs, config) &&
	       devices_attach(programs, devices, false);
}
