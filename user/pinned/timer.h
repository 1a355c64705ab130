/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers of BPF programs, which not every machine has. */
#ifndef PINNED_TIMER_H
#define PINNED_TIMER_H

/* Has this one? 1; 0: the kernel cannot make one; -errno: it does not take the program that tries.
 * Reports nothing.
 */
int timer_is_available(void);

#endif /* PINNED_TIMER_H */
