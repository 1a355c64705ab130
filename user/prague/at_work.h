/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All Pragues of this host: that of `tcp-prague on` and those of each `tcp-prague run`, whose maps
 * are not pinned. The maps are found among all of the host, by name and shape. An iterator of our
 * own reads them: the pinned one, or else one that is loaded for it, which takes longer.
 */
#ifndef AT_WORK_H
#define AT_WORK_H

#include "prague/programs.h"

/* Call `visit` for each socket that is, or was, Prague's. How many Pragues there are, or -errno,
 * before any call: they cannot be looked for; afterwards: what is incomplete is reported.
 */
int at_work_each_socket(const struct programs *pinned,
			void (*visit)(const struct prague_report *socket, void *data), void *data);

/* The same for each of their maps of destinations with a Classic AQM. */
int at_work_each_classic(void (*visit)(int map, void *data), void *data);

#endif /* AT_WORK_H */
