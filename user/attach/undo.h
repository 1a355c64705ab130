/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was attached to the root of an interface goes (root.h). */
#ifndef UNDO_H
#define UNDO_H

#include "attach/outcome.h"

/* Put the interface back as it was. Adds to `outcome` what there was of us, if anything. */
bool root_undo(const struct registrations *regs, const char *ifname, struct outcome *outcome);

/* Forget what is kept for an interface (key.parent: any), but not its borrowed settings. */
void root_forget(const struct registrations *regs, const struct dualpi2_key *key);

/* Forget interfaces that no longer exist: their numbers may come again. The lock is held. */
void root_sweep(const struct registrations *regs);

#endif /* UNDO_H */
