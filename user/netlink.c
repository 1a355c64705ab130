// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

bool interface_index(const char *ifname, unsigned int *ifindex)
{
	*ifindex = if_nametoindex(ifname);
	if (!*ifindex)
		return fail(errno,
			    "%s: no such interface in this network namespace (see "
			    "`ip link`)",
			    ifname);
	return true;
}

/* A request with its buffer. */
struct request {
	union {
		struct nlmsghdr header;
		char buffer[QDISC_OPTIONS_MAX + 512];
	};
	struct tcmsg *tc;
};

/* What the kernel says when it refuses (NETLINK_EXT_ACK); empty: nothing. */
struct refusal {
	int error;
	char text[128];
};

static void request_init(struct request *request, uint16_t type, uint16_t flags)
{
	*request = (struct request){};
	mnl_nlmsg_put_header(request->buffer);
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST | flags;
	request->tc = mnl_nlmsg_put_extra_header(&request->header, sizeof(*request->tc));
	request->tc->tcm_family = AF_UNSPEC;
}

static struct mnl_socket *open_socket(void)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int on = 1;

	if (!nl)
		return NULL;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(nl);
		return NULL;
	}
	/* Best effort: without them we have just the errno. */
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on));
	on = 1;
	mnl_socket_setsockopt(nl, NETLINK_CAP_ACK, &on, sizeof(on));
	return nl;
}

static int on_error(const struct nlmsghdr *message, void *data)
{
	const struct nlmsgerr *answer = mnl_nlmsg_get_payload(message);
	struct refusal *refusal = data;
	const struct nlattr *attr;

	if (!answer->error)
		return MNL_CB_STOP;
	refusal->error = -answer->error;
	if (message->nlmsg_flags & NLM_F_ACK_TLVS) {
		mnl_attr_for_each(attr, message, sizeof(*answer)) {
			if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
				snprintf(refusal->text, sizeof(refusal->text), "%s",
					 mnl_attr_get_str(attr));
		}
	}
	errno = refusal->error;
	return MNL_CB_ERROR;
}

static int receive(struct mnl_socket *nl, mnl_cb_t on_message, void *data, struct refusal *refusal)
{
	mnl_cb_t control[NLMSG_MIN_TYPE] = { [NLMSG_ERROR] = on_error };
	char *buffer = malloc(MNL_SOCKET_DUMP_SIZE);
	ssize_t len;
	int result = MNL_CB_ERROR;

	if (!buffer)
		return MNL_CB_ERROR;
	do {
		len = mnl_socket_recvfrom(nl, buffer, MNL_SOCKET_DUMP_SIZE);
		if (len <= 0) {
			result = MNL_CB_ERROR;
			break;
		}
		/* NLMSG_ERROR messages are for on_error(), all others for on_message(). */
		if (((struct nlmsghdr *)buffer)->nlmsg_type == NLMSG_ERROR)
			result = mnl_cb_run2(buffer, len, 0, 0, NULL, refusal, control,
					     NLMSG_MIN_TYPE);
		else
			result = mnl_cb_run(buffer, len, 0, 0, on_message, data);
	} while (result > MNL_CB_STOP);
	free(buffer);
	return result;
}

/* Send a request and read all answers. False with refusal->error set on failure. */
static bool talk(struct request *request, mnl_cb_t on_message, void *data, struct refusal *refusal)
{
	struct mnl_socket *nl = open_socket();
	bool done;

	*refusal = (struct refusal){};
	if (!nl) {
		refusal->error = errno;
		return false;
	}
	done = mnl_socket_sendto(nl, &request->header, request->header.nlmsg_len) >= 0 &&
	       receive(nl, on_message, data, refusal) >= MNL_CB_STOP;
	if (!done && !refusal->error)
		refusal->error = errno;
	mnl_socket_close(nl);
	return done;
}

/* Payload of an attribute as a struct that may have grown or shrunk. */
static void copy_payload(const struct nlattr *attr, void *to, size_t size)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memset(to, 0, size);
	memcpy(to, mnl_attr_get_payload(attr), len < size ? len : size);
}

static void read_counters(const struct nlattr *stats2, struct qdisc_counters *counters)
{
	const struct nlattr *attr, *packets64 = NULL;
	struct gnet_stats_basic basic = {};
	struct gnet_stats_queue queue = {};

	mnl_attr_for_each_nested(attr, stats2) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_STATS_BASIC:
			copy_payload(attr, &basic, sizeof(basic));
			break;
		case TCA_STATS_PKT64:
			packets64 = attr;
			break;
		case TCA_STATS_QUEUE:
			copy_payload(attr, &queue, sizeof(queue));
			break;
		}
	}
	*counters = (struct qdisc_counters){
		.bytes = basic.bytes,
		.packets = packets64 ? mnl_attr_get_u64(packets64) : basic.packets,
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
	void (*visit)(int ifindex, const struct qdisc *qdisc, void *data);
	void *data;
};

static int on_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(message);
	struct qdisc qdisc = { .handle = tc->tcm_handle,
			       .parent = tc->tcm_parent,
			       .refcnt = tc->tcm_info };
	const struct dump *dump = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(*tc)) {
		switch (mnl_attr_get_type(attr)) {
		case TCA_KIND:
			snprintf(qdisc.kind, sizeof(qdisc.kind), "%s", mnl_attr_get_str(attr));
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
	dump->visit(tc->tcm_ifindex, &qdisc, dump->data);
	return MNL_CB_OK;
}

bool qdisc_dump(void (*visit)(int ifindex, const struct qdisc *qdisc, void *data), void *data)
{
	struct dump dump = { visit, data };
	struct refusal refusal;
	struct request request;

	request_init(&request, RTM_GETQDISC, NLM_F_DUMP);
	if (!talk(&request, on_qdisc, &dump, &refusal))
		return fail(refusal.error, "cannot read the qdiscs of this host through rtnetlink");
	return true;
}

struct search {
	int ifindex;
	uint32_t handle;
	struct qdisc *root;
	bool found;
};

static void visit_root(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct search *search = data;

	if (ifindex == search->ifindex && qdisc->parent == TC_H_ROOT)
		*search->root = *qdisc;
}

bool qdisc_root(int ifindex, struct qdisc *root)
{
	struct search search = { .ifindex = ifindex, .root = root };

	*root = (struct qdisc){};
	return qdisc_dump(visit_root, &search);
}

static void visit_child(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct search *search = data;

	/* Children without a handle come and go with their parent. */
	if (ifindex == search->ifindex && qdisc->handle && qdisc->parent != TC_H_ROOT &&
	    TC_H_MAJ(qdisc->parent) == TC_H_MAJ(search->handle))
		search->found = true;
}

static int on_filter(const struct nlmsghdr *message, void *data)
{
	(void)message;
	((struct search *)data)->found = true;
	return MNL_CB_OK;
}

bool qdisc_has_parts(int ifindex, uint32_t handle, bool *has_parts)
{
	struct search search = { .ifindex = ifindex, .handle = handle };
	struct refusal refusal;
	struct request request;

	if (!qdisc_dump(visit_child, &search))
		return false;
	request_init(&request, RTM_GETTFILTER, NLM_F_DUMP);
	request.tc->tcm_ifindex = ifindex;
	request.tc->tcm_parent = handle;
	if (!talk(&request, on_filter, &search, &refusal))
		return fail(refusal.error, "cannot read the filters of the root qdisc");
	*has_parts = search.found;
	return true;
}

bool qdisc_create(int ifindex, const struct qdisc *qdisc, bool replace)
{
	struct refusal refusal;
	struct request request;

	request_init(&request, RTM_NEWQDISC,
		     NLM_F_ACK | NLM_F_CREATE | (replace ? NLM_F_REPLACE : NLM_F_EXCL));
	request.tc->tcm_ifindex = ifindex;
	request.tc->tcm_parent = TC_H_ROOT;
	request.tc->tcm_handle = qdisc->handle;
	mnl_attr_put_strz(&request.header, TCA_KIND, qdisc->kind);
	if (qdisc->options_len)
		mnl_attr_put(&request.header, TCA_OPTIONS, qdisc->options_len, qdisc->options);
	if (talk(&request, NULL, NULL, &refusal))
		return true;
	return fail(refusal.error, "the kernel refuses to attach %s: %s", qdisc->kind,
		    refusal.text[0] ? refusal.text : strerror(refusal.error));
}

bool qdisc_delete(int ifindex)
{
	struct refusal refusal;
	struct request request;

	request_init(&request, RTM_DELQDISC, NLM_F_ACK);
	request.tc->tcm_ifindex = ifindex;
	request.tc->tcm_parent = TC_H_ROOT;
	if (talk(&request, NULL, NULL, &refusal))
		return true;
	return fail(refusal.error, "the kernel refuses to remove the root qdisc: %s",
		    refusal.text[0] ? refusal.text : strerror(refusal.error));
}

const char *qdisc_text(const struct qdisc *qdisc, char *text)
{
	snprintf(text, QDISC_TEXT_MAX, "qdisc %s %x: root", qdisc->kind, qdisc->handle >> 16);
	return text;
}
