// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "interface/ifb.h"

const char *sample_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, old_name);
	return name;
}

enum direction sample_interface(const struct ifb *ifb, const char *device, char ifname[IF_NAMESIZE])
{
	memcpy(ifname, ifb ? ifb->ifname : device, IF_NAMESIZE);
	return ifb ? INGRESS : EGRESS;
}

const char *sample_name(const char *name, char *text)
{
	return clean_text(name, text, NAME_SHOWN_MAX);
}

const char *sample_place(const struct sample *sample, char *text)
{
	char class[FORMAT_MAX], name[NAME_SHOWN_MAX];

	snprintf(text, PLACE_MAX, "%s%s%s%s", sample_name(sample->ifname, name),
		 sample->direction == INGRESS ? ", ingress" : "",
		 sample->key.parent != TC_H_ROOT ? ", queue "
		 : sample_is_many(sample)	 ? ", all queues"
						 : "",
		 sample->key.parent != TC_H_ROOT ? format_class(sample->key.parent, class) : "");
	return text;
}

struct dualpi2_params sample_params(const struct dualpi2_stats *stats)
{
	struct dualpi2_params params = stats->params;

	params.memlimit = stats->memlimit;
	/* k is 0 if somebody else wrote to the map; then there is no 1/k^2. */
	if (params.coupling)
		params.p_cmax = coupling_p_cmax(params.p_cmax, params.coupling);
	return params;
}

bool sample_delay(const struct dualpi2_histogram *histogram, enum delay asked, __u64 *ns)
{
	static const __u32 permille[] = {
		[DELAY_P50] = 500, [DELAY_P99] = 990, [DELAY_P999] = 999
	};
	const __u64 count = histogram_count(histogram);

	if (!count)
		return false;
	if (asked == DELAY_MEAN)
		*ns = histogram->sum_ns / count;
	else if (asked == DELAY_HIGHEST)
		*ns = histogram->max_ns;
	else
		*ns = histogram_quantile(histogram, permille[asked]);
	return true;
}

const char *strays_text(const struct sample *sample, char *text)
{
	const struct strays *strays = &sample->strays;
	char queues[QUEUES_TEXT_MAX], name[NAME_SHOWN_MAX];

	snprintf(text, STRAYS_TEXT_MAX, "%s: `dualpi2-load --check %s%s` says what helps",
		 format_queues(strays->first, strays->count, strays->kind, sample->aqm->kind,
			       queues),
		 sample_name(sample->ifname, name), sample_option(sample));
	return text;
}
