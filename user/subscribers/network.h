/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* network.json of LibreQoS: a tree of sites and access points with their rates. Of its levels we
 * have the one that circuits name; what is above it limits the rate.
 */
#ifndef SUBSCRIBERS_NETWORK_H
#define SUBSCRIBERS_NETWORK_H

#include <limits.h>

#include "subscribers/list.h"

struct network {
	char path[PATH_MAX];
	bool is_there;
	struct subscribers nodes; /* as parents, of which some may be named by nobody */
};

/* The one in the directory of a file of circuits. network_free() it, also if that fails, which is
 * reported.
 */
bool network_read(const char *circuits, struct network *network);
void network_free(struct network *network);

/* The same of a text. The path is there. */
bool network_parse(struct network *network, const char *text);

/* The node that a circuit names, which becomes a parent in the list if it is none yet; NULL if
 * there is no name, or no node at all in the file. False: it was reported what is wrong. The place
 * of messages stays that of the circuit.
 */
bool network_parent(const struct network *network, char *name, struct subscribers *list,
		    const struct subscriber **parent);

#endif /* SUBSCRIBERS_NETWORK_H */
