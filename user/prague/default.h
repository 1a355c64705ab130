/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The congestion control that new sockets of a network namespace get. */
#ifndef DEFAULT_H
#define DEFAULT_H

#include <stdbool.h>

#define DEFAULT_PINS "defaults"

/* Make it Prague's in this network namespace; what it was last is kept. */
bool default_set(void);

/* Put back what was there, wherever it still is Prague's. A namespace that cannot be entered is
 * reported, and stays remembered. `is_ours`: what is called Prague is ours, and namespaces that
 * were made with it get the fallback, where they have a name or a process.
 */
void defaults_restore(bool is_ours);

/* Forget those of namespaces that have ended. */
void defaults_sweep(void);

#endif /* DEFAULT_H */
