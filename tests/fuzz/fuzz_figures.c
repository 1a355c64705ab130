// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is printed of the pinned maps, whatever is in them: the input is laid (xor) over the
 * statistics of a fresh qdisc. In JSON, as a table, and as tc prints.
 */
#include "fuzz.h"

#include <linux/pkt_sched.h>
#include <stdio.h>

#include "document.h"
#include "figures.h"
#include "table.h"
#include "tc.h"

/* What comes out of maps and of the kernel. */
struct content {
	struct dualpi2_key key;
	struct dualpi2_stats stats;
	struct dualpi2_delays delays;
	struct qdisc_counters counters;
	uint32_t refcnt;
	uint8_t is_sum, tcx_attached;
};

static const struct content fresh = {
	.key = { .ifindex = 1, .parent = TC_H_ROOT },
	.stats = { .ifname = "eth0", .params = DUALPI2_DEFAULT_PARAMS },
	.refcnt = 1,
};

static void fill(struct figures *figures, const struct content *content)
{
	*figures = (struct figures){
		.key = content->key,
		.stats = content->stats,
		.delays = content->delays,
		.counters = content->counters,
		.refcnt = content->refcnt,
		.is_sum = content->is_sum & 1,
		.tcx_attached = content->tcx_attached & 1,
	};
	figures_ifname(0, content->stats.ifname, figures->ifname);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct figures items[2];
	const struct figures_list list = { .items = items, .count = 2 };
	struct content content = fresh;
	uint8_t *bytes = (uint8_t *)&content;

	fill(&items[1], &fresh);
	for (size_t i = 0; i < size && i < sizeof(content); i++)
		bytes[i] ^= data[i];
	fill(&items[0], &content);
	document_print(&list, DOCUMENT_BINS);
	table_print(&list);
	tc_print(&list);
	return 0;
}
