/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The congestion control that new sockets of a network namespace get. */
#ifndef DEFAULT_H
#define DEFAULT_H

#include <stdbool.h>

#define DEFAULT_PINS "defaults"

/* Make it Prague's in this network namespace; what it was last is kept. */
bool default_set(void);

/* Put back what was there, wherever it still is Prague's and the namespace can be found. `is_ours`:
 * what is called Prague is ours, and namespaces that were made with it get the fallback.
 */
void defaults_restore(bool is_ours);

#endif /* DEFAULT_H */
