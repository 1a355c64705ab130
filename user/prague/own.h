/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A Prague of one process alone, under a name of its own: it ends with the process. */
#ifndef OWN_H
#define OWN_H

#include <stdbool.h>

#include "prague/programs.h"

#define OWN_TAG_MAX 9 /* "1a2b3c4d" */

/* A tag that nobody else has: 0, or an errno. */
int own_tag(char tag[OWN_TAG_MAX]);

/* Load the programs; `name` is that of the congestion control. Where the kernel has a Prague of its
 * own nothing is loaded, and `name` is that one's. `devices`, `config`: as for `tcp-prague on`.
 */
bool own_prague(const char *tag, const char *devices, const struct prague_config *config,
		char name[PRAGUE_NAME_MAX], struct programs *programs);

#endif /* OWN_H */
