/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may be meant by a word that is no option, or no subcommand. */
#ifndef GUESS_H
#define GUESS_H

#include <stdbool.h>

#include "cli/spec.h"

#define GUESS_MAX 160	 /* bytes of an answer */
#define SLIPS_TOO_MANY 3 /* letters that are wrong, missing or too many: another word is meant */

/* Is `word` this name, with underscores or hyphens? */
bool is_spelling_of(const char *word, const char *name);

/* May a word be this name, with fewer slips than `*fewest`, and no more than one in three letters,
 * or does it begin the name? Then that is their number. Begin with SLIPS_TOO_MANY.
 */
bool is_nearer(const char *word, const char *name, unsigned int *fewest);

/* A word of other programs, and what to say of it. A table of them ends with one that is all zero;
 * NULL: there are none.
 */
struct foreign_word {
	const char *word, *answer;
};

/* What there is to say of a word in lower case; NULL: it is no stranger. */
const char *answer_to(const struct foreign_word *strangers, const char *word);

/* The same of a word with dashes, capitals or a value behind "=", behind ": "; or ": did you mean
 * --NAME?", if a word is nearly the name of an option that may stand in these places (enum
 * option_place); or "". Writes to `text` (GUESS_MAX bytes) and returns it.
 */
const char *guess(const struct option_spec *options, const struct foreign_word *strangers,
		  const char *word, unsigned int places, char text[GUESS_MAX]);

#endif /* GUESS_H */
