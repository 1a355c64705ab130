// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "helper.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

#define HELPERS_MAX (2 * DUALPI2_MAX_INSTANCES)
#define ANNOUNCED 0U /* the number of a device that is being made */

void helper_name(const char *prefix, const char *ifname, __u32 ifindex, char name[IF_NAMESIZE])
{
	if (snprintf(name, IF_NAMESIZE, "%s-%s", prefix, ifname) >= IF_NAMESIZE)
		snprintf(name, IF_NAMESIZE, "%s-%u", prefix, ifindex);
}

static bool read_number(const struct registration *reg, const struct dualpi2_key *key,
			__u32 *ifindex)
{
	return !bpf_map_lookup_elem(reg->helpers, key, ifindex);
}

static bool write_number(const struct registration *reg, const struct dualpi2_key *key,
			 __u32 ifindex)
{
	if (bpf_map_update_elem(reg->helpers, key, &ifindex, BPF_ANY))
		return fail(errno, "cannot note a helper device: at most %u can be made",
			    HELPERS_MAX);
	return true;
}

static bool is_kind(const struct link *link, const struct helper *helper)
{
	return !strcmp(link->kind, helper->kind);
}

bool helper_find(const struct registration *reg, struct helper *helper)
{
	__u32 number = ANNOUNCED;
	bool known = read_number(reg, &helper->key, &number);
	struct link link = {};

	helper->owner = HELPER_NONE;
	if (number != ANNOUNCED && !link_look(number, &link))
		return false;
	if (link.ifindex && is_kind(&link, helper)) {
		helper->owner = HELPER_OURS;
		memcpy(helper->name, link.name, sizeof(helper->name));
	} else if (!link_look_for(helper->name, &link)) {
		return false;
	} else if (link.ifindex) {
		known = (known && number == ANNOUNCED) || !strcmp(link.alias, helper->alias);
		helper->owner = known && is_kind(&link, helper) ? HELPER_OURS : HELPER_FOREIGN;
	}
	helper->ifindex = link.ifindex;
	return true;
}

bool helper_announce(const struct registration *reg, const struct helper *helper)
{
	return write_number(reg, &helper->key, ANNOUNCED);
}

bool helper_enter(const struct registration *reg, const struct helper *helper)
{
	return write_number(reg, &helper->key, helper->ifindex);
}

void helper_forget(const struct registration *reg, const struct helper *helper)
{
	bpf_map_delete_elem(reg->helpers, &helper->key);
}

bool helper_entered(const struct registration *reg, const struct helper *helper)
{
	__u32 number = ANNOUNCED;

	return read_number(reg, &helper->key, &number) && number != ANNOUNCED;
}

void helpers_each(const struct registration *reg, __u32 purpose,
		  void (*visit)(const struct registration *reg, const struct dualpi2_key *key,
				__u32 ifindex))
{
	struct dualpi2_key keys[HELPERS_MAX], *previous = NULL;
	size_t count = 0;

	while (count < HELPERS_MAX && !bpf_map_get_next_key(reg->helpers, previous, &keys[count]))
		previous = &keys[count++];
	for (size_t i = 0; i < count; i++) {
		__u32 number = ANNOUNCED;

		if (keys[i].parent == purpose && read_number(reg, &keys[i], &number))
			visit(reg, &keys[i], number);
	}
}
