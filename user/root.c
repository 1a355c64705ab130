// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "root.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "dualpi2.h"

/* Kinds whose dumped options make the same qdisc again. Others have classes, need
 * more to start than they show (red: its table), or do not show all of their
 * configuration (netem: its delay distribution).
 */
static const char *const restorable_kinds[] = {
	"bfifo",   "cake",  "codel",	  "dualpi2",	     "fq",  "fq_codel", "fq_pie", "mq",
	"noqueue", "pfifo", "pfifo_fast", "pfifo_head_drop", "pie", "sfq",	"tbf",
};

enum root_owner root_owner(const struct qdisc *root)
{
	if (!strcmp(root->kind, DUALPI2_KIND))
		return ROOT_OURS;
	return TC_H_MAJ(root->handle) ? ROOT_FOREIGN : ROOT_AUTOMATIC;
}

static bool kind_is_restorable(const char *kind)
{
	for (size_t i = 0; i < sizeof(restorable_kinds) / sizeof(restorable_kinds[0]); i++) {
		if (!strcmp(kind, restorable_kinds[i]))
			return true;
	}
	return false;
}

bool root_restorable(int ifindex, const struct qdisc *root, bool *restorable, char *why)
{
	bool has_parts;

	if (!qdisc_has_parts(ifindex, root->handle, &has_parts))
		return false;
	*restorable = false;
	if (has_parts)
		snprintf(why, ROOT_WHY_MAX, "qdiscs or filters inside it");
	else if (!kind_is_restorable(root->kind))
		snprintf(why, ROOT_WHY_MAX, "parts of %s that the kernel does not show",
			 root->kind);
	else if (root->has_size_table)
		snprintf(why, ROOT_WHY_MAX, "its size table (stab)");
	else if (root->options_cut)
		snprintf(why, ROOT_WHY_MAX, "its options (too long)");
	else
		*restorable = true;
	return true;
}
