/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of tc, of the qdiscs that people come from (cake, fq_codel), and of sqm-scripts, and what
 * there is in their place.
 */
#ifndef STRANGERS_H
#define STRANGERS_H

#include "cli/guess.h"

extern const struct foreign_word strangers[];

#endif /* STRANGERS_H */
