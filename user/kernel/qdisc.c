// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/rtnl.h"

static struct tcmsg *begin(struct rtnl_request *request, uint16_t type, uint16_t flags, int ifindex,
			   uint32_t parent)
{
	struct tcmsg *tc = rtnl_begin(request, type, flags, sizeof(*tc));

	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = parent;
	return tc;
}

static void read_counters(const struct nlattr *stats2, struct qdisc_counters *counters)
{
	const struct nlattr *attr;
	struct gnet_stats_basic basic = {};
	struct gnet_stats_queue queue = {};
	uint64_t packets64 = 0; /* left out where it fits `basic` */

	mnl_attr_for_each_nested(attr, stats2) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_STATS_BASIC:
			rtnl_copy(attr, &basic, sizeof(basic));
			break;
		case TCA_STATS_PKT64:
			rtnl_copy(attr, &packets64, sizeof(packets64));
			break;
		case TCA_STATS_QUEUE:
			rtnl_copy(attr, &queue, sizeof(queue));
			break;
		}
	}
	*counters = (struct qdisc_counters){
		.bytes = basic.bytes,
		.packets = packets64 ?: basic.packets,
		.drops = queue.drops,
		.overlimits = queue.overlimits,
		.requeues = queue.requeues,
		.backlog = queue.backlog,
		.qlen = queue.qlen,
	};
}

static void read_options(const struct nlattr *attr, struct qdisc *qdisc)
{
	size_t len = mnl_attr_get_payload_len(attr);

	qdisc->options_cut = len > sizeof(qdisc->options);
	qdisc->options_len = qdisc->options_cut ? sizeof(qdisc->options) : len;
	memcpy(qdisc->options, mnl_attr_get_payload(attr), qdisc->options_len);
}

struct dump {
	int ifindex; /* 0: all */
	bool (*visit)(const struct qdisc *qdisc, void *data);
	void *data;
	bool found;
};

static int on_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *tc = rtnl_header(message, sizeof(*tc));
	struct dump *dump = data;
	const struct nlattr *attr;
	struct qdisc qdisc;

	if (!tc)
		return MNL_CB_ERROR;
	if (dump->ifindex && dump->ifindex != tc->tcm_ifindex)
		return MNL_CB_OK;
	qdisc = (struct qdisc){ .ifindex = tc->tcm_ifindex,
				.handle = tc->tcm_handle,
				.parent = tc->tcm_parent,
				.refcnt = tc->tcm_info };
	mnl_attr_for_each(attr, message, sizeof(*tc)) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_KIND:
			rtnl_text(attr, qdisc.kind, sizeof(qdisc.kind));
			break;
		case TCA_OPTIONS:
			read_options(attr, &qdisc);
			break;
		case TCA_STAB:
			qdisc.has_size_table = true;
			break;
		case TCA_STATS2:
			read_counters(attr, &qdisc.counters);
			break;
		}
	}
	dump->found |= dump->visit(&qdisc, dump->data);
	return MNL_CB_OK;
}

int qdisc_each(int ifindex, bool (*visit)(const struct qdisc *qdisc, void *data), void *data)
{
	struct dump dump = { .ifindex = ifindex, .visit = visit, .data = data };
	struct rtnl_request request;

	begin(&request, RTM_GETQDISC, NLM_F_DUMP, 0, 0);
	return expect_known(rtnl_dump(&request, on_qdisc, &dump) ?: dump.found, "the qdiscs");
}

static bool copy_qdisc(const struct qdisc *qdisc, void *copy)
{
	*(struct qdisc *)copy = *qdisc;
	return true;
}

static bool copy_root(const struct qdisc *qdisc, void *copy)
{
	return qdisc->parent == TC_H_ROOT && copy_qdisc(qdisc, copy);
}

bool qdisc_root(int ifindex, struct qdisc *root)
{
	*root = (struct qdisc){};
	return qdisc_each(ifindex, copy_root, root) >= 0;
}

int qdisc_below(int ifindex, uint32_t parent, struct qdisc *qdisc)
{
	struct dump dump = { .ifindex = ifindex, .visit = copy_qdisc, .data = qdisc };
	struct rtnl_request request;
	int error;

	*qdisc = (struct qdisc){};
	/* The answer is a notification, which the asker gets by NLM_F_ECHO only. */
	begin(&request, RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, ifindex, parent);
	error = rtnl_talk(&request, on_qdisc, &dump);
	/* For noop_qdisc qdisc_get_notify() of net/sched/sch_api.c sends no answer. */
	return error ?: qdisc->kind[0] != '\0';
}

/* Children without a handle come and go with their parent. */
static bool is_child_to_keep(const struct qdisc *qdisc, void *data)
{
	const struct qdisc *parent = data;

	return qdisc->handle && qdisc->parent != TC_H_ROOT &&
	       TC_H_MAJ(qdisc->parent) == TC_H_MAJ(parent->handle);
}

static int on_filter(const struct nlmsghdr *message, void *data)
{
	(void)message;
	*(bool *)data = true;
	return MNL_CB_OK;
}

int qdisc_has_filters(int ifindex, uint32_t parent)
{
	struct rtnl_request request;
	bool has_filters = false;

	begin(&request, RTM_GETTFILTER, NLM_F_DUMP, ifindex, parent);
	return expect_known(rtnl_dump(&request, on_filter, &has_filters) ?: has_filters,
			    "the filters of the interface");
}

int qdisc_has_parts(const struct qdisc *qdisc)
{
	return qdisc_each(qdisc->ifindex, is_child_to_keep, (void *)qdisc)
		       ?: qdisc_has_filters(qdisc->ifindex, qdisc->handle);
}

bool qdisc_create(int ifindex, const struct qdisc *qdisc, bool replace)
{
	const uint16_t flags = NLM_F_ACK | NLM_F_CREATE | (replace ? NLM_F_REPLACE : NLM_F_EXCL);
	struct rtnl_request request;

	begin(&request, RTM_NEWQDISC, flags, ifindex, qdisc->parent)->tcm_handle = qdisc->handle;
	mnl_attr_put_strz(&request.header, TCA_KIND, qdisc->kind);
	if (qdisc->options_len)
		mnl_attr_put(&request.header, TCA_OPTIONS, qdisc->options_len, qdisc->options);
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "attach %s", qdisc->kind);
}

bool qdisc_delete(int ifindex)
{
	struct rtnl_request request;

	begin(&request, RTM_DELQDISC, NLM_F_ACK, ifindex, TC_H_ROOT);
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "remove the root qdisc");
}

const char *qdisc_text(const char *kind, uint32_t handle, uint32_t parent, char *text)
{
	int used = snprintf(text, QDISC_TEXT_MAX, "qdisc %s %x: ", kind, TC_H_MAJ(handle) >> 16);

	if (parent == TC_H_ROOT)
		snprintf(text + used, QDISC_TEXT_MAX - used, "root");
	else
		snprintf(text + used, QDISC_TEXT_MAX - used, "parent %x:%x", TC_H_MAJ(parent) >> 16,
			 TC_H_MIN(parent));
	return text;
}
