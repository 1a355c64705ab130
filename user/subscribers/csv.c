// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/csv.h"

#include <string.h>

#include "cli/message.h"

#define BLANKS " \t\r"

/* Take the cell at csv->text, to behind what ends it, which is returned: ',', '\n' or NUL, or '"'
 * if a quote has no end. A quote counts where a cell begins, as most programs have it; within, two
 * stand for one.
 */
static char take_cell(struct csv *csv, char **cell)
{
	char *from = csv->text + strspn(csv->text, BLANKS), *to = from, end;
	bool is_quoted = *from == '"';

	*cell = to;
	for (from += is_quoted; *from && (is_quoted || (*from != ',' && *from != '\n')); from++) {
		if (is_quoted && from[0] == '"' && from[1] != '"') {
			is_quoted = false;
			continue;
		}
		if (is_quoted && *from == '"')
			from++; /* the second of two */
		csv->line += *from == '\n';
		*to++ = *from;
	}
	end = is_quoted ? '"' : *from;
	csv->line += end == '\n';
	csv->text = from + (*from != '\0');
	while (to > *cell && strchr(BLANKS, to[-1]))
		to--;
	*to = '\0';
	return end;
}

void csv_pass_over(struct csv *csv)
{
	for (;;) {
		const size_t blanks = strspn(csv->text, BLANKS);
		const bool is_comment = csv->text[blanks] == '#';

		if (!is_comment && csv->text[blanks] && csv->text[blanks] != '\n')
			return;
		csv->text += strcspn(csv->text, "\n");
		if (!*csv->text)
			return;
		csv->text++;
		csv->line++;
	}
}

int csv_next(struct csv *csv)
{
	char *cell, end;

	csv_pass_over(csv);
	if (!*csv->text)
		return 0;
	message_set_place("%s:%u", csv->path, csv->line);
	csv->cells = 0;
	do {
		end = take_cell(csv, &cell);
		if (csv->cells < CSV_CELLS_MAX)
			csv->cell[csv->cells++] = cell;
	} while (end == ',');
	if (end != '"')
		return 1;
	fail(0, "a quote that begins in this row has no end");
	return -1;
}
