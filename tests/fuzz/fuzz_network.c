// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* LibreQoS's network.json: each node that is taken can be named by a circuit, with a rate in range.
 */
#include "fuzz.h"

#include "params.h"
#include "subscribers/network.h"

static void check(const struct network *network)
{
	const struct subscriber *parent;
	struct subscribers list;

	ALWAYS(subscribers_begin(&list));
	SUBSCRIBERS_FOR(each, &network->nodes) {
		char name[SUBSCRIBER_NAME_SIZE];

		if (!strcmp(each->name, "none"))
			continue;
		strcpy(name, each->name);
		ALWAYS(network_parent(network, name, &list, &parent) && parent->is_parent);
		ALWAYS(parent->plan.down >= DUALPI2_RATE_MIN &&
		       parent->plan.up >= DUALPI2_RATE_MIN);
		ALWAYS(parent->plan.down <= DUALPI2_RATE_MAX &&
		       parent->plan.up <= DUALPI2_RATE_MAX);
	}
	subscribers_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct network network = { .path = "fuzz.json" };

	if (network_parse(&network, text))
		check(&network);
	network_free(&network);
	free(text);
	return 0;
}
