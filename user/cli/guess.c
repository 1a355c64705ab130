// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/guess.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SLIP_NAME_MAX 32	 /* characters of a name */
#define LETTERS_WITHOUT_A_SLIP 3 /* in a word with one: "mq" is no slip of "atm" */

bool is_spelling_of(const char *word, const char *name)
{
	for (; *word && *name; word++, name++) {
		if (*word != *name && !(*word == '_' && *name == '-'))
			return false;
	}
	return *word == *name;
}

/* How many of them make one word of the other (Levenshtein). */
static unsigned int slips(const char *word, const char *name)
{
	const size_t length = strlen(name);
	unsigned int row[SLIP_NAME_MAX + 1];

	if (length > SLIP_NAME_MAX)
		return SLIPS_TOO_MANY;
	for (size_t i = 0; i <= length; i++)
		row[i] = (unsigned int)i;
	for (; *word; word++) {
		unsigned int diagonal = row[0]++;

		for (size_t i = 1; i <= length; i++) {
			const unsigned int above = row[i];
			const unsigned int least = row[i - 1] < above ? row[i - 1] : above;

			row[i] = name[i - 1] == *word ? diagonal
						      : 1 + (least < diagonal ? least : diagonal);
			diagonal = above;
		}
	}
	return row[length];
}

bool is_nearer(const char *word, const char *name, unsigned int *fewest)
{
	const unsigned int count = slips(word, name);
	const size_t length = strlen(word);
	const bool begins_it = length >= LETTERS_WITHOUT_A_SLIP && !strncmp(word, name, length);

	if (count >= *fewest || (count * LETTERS_WITHOUT_A_SLIP > length && !begins_it))
		return false;
	*fewest = count;
	return true;
}

const char *answer_to(const struct foreign_word *strangers, const char *word)
{
	for (const struct foreign_word *known = strangers; known && known->word; known++) {
		if (is_spelling_of(word, known->word))
			return known->answer;
	}
	return NULL;
}

/* "--Name=value" is "name". */
static const char *bare_name(const char *word, char name[SLIP_NAME_MAX])
{
	size_t used = 0;

	for (word += strspn(word, "-"); *word && *word != '=' && used + 1 < SLIP_NAME_MAX; word++)
		name[used++] = (char)tolower((unsigned char)*word);
	name[used] = '\0';
	return name;
}

const char *guess(const struct option_spec *options, const struct foreign_word *strangers,
		  const char *word, unsigned int places, char text[GUESS_MAX])
{
	const char *nearest = NULL, *answer;
	unsigned int fewest = SLIPS_TOO_MANY;
	char name[SLIP_NAME_MAX];

	word = bare_name(word, name);
	answer = answer_to(strangers, word);
	for (const struct option_spec *spec = options; option_exists(spec); spec++) {
		if (spec->name && (spec->places & places) == places &&
		    is_nearer(word, spec->name, &fewest))
			nearest = spec->name;
	}
	text[0] = '\0';
	if (answer)
		snprintf(text, GUESS_MAX, ": %s", answer);
	else if (nearest)
		snprintf(text, GUESS_MAX, ": did you mean --%s?", nearest);
	return text;
}
