// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/libreqos.h"

#include <ctype.h>
#include <string.h>

#include "cli/lines.h"
#include "cli/message.h"
#include "subscribers/csv.h"
#include "subscribers/network.h"
#include "subscribers/plan.h"
#include "subscribers/prefixes.h"

/* Those that we read. */
enum column {
	COLUMN_CIRCUIT,
	COLUMN_PARENT,
	COLUMN_IPV4,
	COLUMN_IPV6,
	COLUMN_DOWN,
	COLUMN_UP,
	N_COLUMNS,
};

/* The plan is the maximum: the minimum is a guarantee that HTB gives. */
static const struct {
	const char *name, *letters; /* of the name LibreQoS looks at letters and digits alone */
} columns[N_COLUMNS] = {
	[COLUMN_CIRCUIT] = { "Circuit ID", "circuitid" },
	[COLUMN_PARENT] = { "Parent Node", "parentnode" },
	[COLUMN_IPV4] = { "IPv4", "ipv4" },
	[COLUMN_IPV6] = { "IPv6", "ipv6" },
	[COLUMN_DOWN] = { "Download Max Mbps", "downloadmaxmbps" },
	[COLUMN_UP] = { "Upload Max Mbps", "uploadmaxmbps" },
};

struct table {
	struct csv csv;
	size_t cells;		 /* of the header */
	size_t place[N_COLUMNS]; /* in a row */
	struct network network;
	struct subscribers *list;
};

/* ---- header ---------------------------------------------------------------------- */

/* Are these the letters and digits of a text of such a length? */
static bool has_letters(const char *text, size_t length, const char *letters)
{
	for (; length; text++, length--) {
		if (isalnum((unsigned char)*text) && tolower((unsigned char)*text) != *letters++)
			return false;
	}
	return !*letters;
}

bool libreqos_is_header(char *text)
{
	struct csv csv = { .text = text };

	csv_pass_over(&csv);
	return has_letters(csv.text, strcspn(csv.text, ",\n"), columns[COLUMN_CIRCUIT].letters);
}

static bool take_header(struct table *table)
{
	const struct csv *csv = &table->csv;

	table->cells = csv->cells;
	for (int column = 0; column < N_COLUMNS; column++) {
		size_t *place = &table->place[column];

		for (*place = 0; *place < csv->cells; ++*place) {
			const char *cell = csv->cell[*place];

			if (has_letters(cell, strlen(cell), columns[column].letters))
				break;
		}
		if (*place == csv->cells)
			return fail(0, "%s: there is no column of this name", columns[column].name);
	}
	return true;
}

/* ---- rows ------------------------------------------------------------------------ */

static char *cell_of(const struct table *table, enum column column)
{
	return table->csv.cell[table->place[column]];
}

static bool has_all_cells(const struct table *table)
{
	for (int column = 0; column < N_COLUMNS; column++) {
		if (table->place[column] >= table->csv.cells)
			return fail(0, "%s: this row has %zu cells, and the header %zu",
				    columns[column].name, table->csv.cells, table->cells);
	}
	return true;
}

static bool read_rate(const struct table *table, enum column column, uint64_t *rate)
{
	return plan_read_mbps(columns[column].name, cell_of(table, column), rate);
}

/* The circuit of a row; NULL: it was reported what is wrong. */
static struct subscriber *take_circuit(const struct table *table,
				       const struct subscriber_plan *plan)
{
	const char *name = cell_of(table, COLUMN_CIRCUIT);
	struct subscriber *circuit = subscribers_find(table->list, name);

	if (!circuit || circuit->is_parent)
		return subscribers_add(table->list, name, plan, false);
	if (plan->down == circuit->plan.down && plan->up == circuit->plan.up &&
	    plan->parent == circuit->plan.parent)
		return circuit;
	fail(0,
	     "%s: another rate or parent node than in a row before: give all devices of a "
	     "circuit the same",
	     name);
	return NULL;
}

static bool take_addresses(const struct table *table, struct subscriber *circuit,
			   enum column column)
{
	char *cell = cell_of(table, column);

	return !*cell || subscribers_take_prefixes(table->list, circuit, cell);
}

/* A device without addresses is passed over, as by LibreQoS. */
static bool take_row(struct table *table)
{
	struct subscriber_plan plan;
	struct subscriber *circuit;

	if (!has_all_cells(table))
		return false;
	if (!*cell_of(table, COLUMN_IPV4) && !*cell_of(table, COLUMN_IPV6))
		return true;
	if (!read_rate(table, COLUMN_DOWN, &plan.down) || !read_rate(table, COLUMN_UP, &plan.up) ||
	    !network_parent(&table->network, cell_of(table, COLUMN_PARENT), table->list,
			    &plan.parent))
		return false;
	circuit = take_circuit(table, &plan);
	return circuit && take_addresses(table, circuit, COLUMN_IPV4) &&
	       take_addresses(table, circuit, COLUMN_IPV6);
}

static bool take_rows(struct table *table)
{
	int found = csv_next(&table->csv);
	bool is_taken = found > 0 && take_header(table);

	while (is_taken && (found = csv_next(&table->csv)) > 0)
		is_taken = take_row(table);
	message_set_place(NULL);
	return is_taken && !found;
}

bool libreqos_parse(const char *path, char *text, size_t size, struct subscribers *list)
{
	struct table table = {
		.csv = { .path = path, .text = lines_begin(text), .line = 1 },
		.list = list,
	};
	bool is_taken;

	if (strlen(text) < size)
		return fail(0, "%s: contains a NUL byte: not a text file", path);
	is_taken = network_read(path, &table.network) && take_rows(&table);
	network_free(&table.network);
	return is_taken;
}
