/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The congestion control that new sockets of a network namespace get. */
#ifndef DEFAULT_H
#define DEFAULT_H

#include <stdbool.h>

#define DEFAULT_PINS "defaults"

/* Make it Prague's in this network namespace, and remember what it was. */
bool default_set(void);

/* Put back the former default wherever it still is Prague's. A namespace that cannot be entered is
 * reported, and stays remembered. `is_ours`: the Prague is ours, and namespaces that began with it
 * as their default get the fallback if they have a name or a process.
 */
void defaults_restore(bool is_ours);

/* Forget the defaults of namespaces that have ended. */
void defaults_sweep(void);

#endif /* DEFAULT_H */
