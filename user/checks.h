/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the host must have. */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>

/* Test everything that the qdisc needs, changing nothing. With `show` a line for
 * each goes to stdout, "ok ..." or "MISSING ...: what to do"; without, the first
 * thing that is missing is reported as a failure. True: nothing is missing.
 */
bool checks_host(bool show);

/* Only the rights: enough to unload. */
bool checks_rights(void);

#endif /* CHECKS_H */
