// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/network.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "cli/lines.h"
#include "cli/message.h"
#include "params.h"
#include "subscribers/plan.h"

#define FILE_NAME "network.json"
#define SIZE_MOST (16 << 20) /* bytes of it */
#define NO_PARENT "none"     /* what LibreQoS writes where it has none */

static unsigned int line_of(const char *text, size_t place)
{
	unsigned int line = 1;

	for (const char *end = text + place; text < end; text++)
		line += *text == '\n';
	return line;
}

/* Make a name of ours of one of LibreQoS, in which may be blanks. */
static char *fold(char *name)
{
	for (char *c = name; (c = strpbrk(c, " ,#")); c++)
		*c = '_';
	return name;
}

/* Of a node: without a rate, or with one of 0, it has that of the node above it, and never more. */
static bool read_rate(struct json_object *node, const char *key, uint64_t *rate)
{
	struct json_object *value;
	uint64_t own;

	if (!json_object_object_get_ex(node, key, &value) || json_object_get_double(value) <= 0)
		return true;
	if (!plan_read_mbps(key, json_object_get_string(value), &own))
		return false;
	*rate = MIN(*rate, own);
	return true;
}

/* A virtual node is a mere name: its rates limit nothing. */
static bool read_rates(struct json_object *node, struct subscriber_plan *plan)
{
	struct json_object *value;

	if (json_object_object_get_ex(node, "virtual", &value) && json_object_get_boolean(value))
		return true;
	return read_rate(node, "downloadBandwidthMbps", &plan->down) &&
	       read_rate(node, "uploadBandwidthMbps", &plan->up);
}

/* `above`: the rates of what the nodes are in. The depth is bounded by json-c: 32. */
static bool add_nodes(struct network *network, struct json_object *nodes,
		      const struct subscriber_plan *above)
{
	json_object_object_foreach(nodes, key, node) {
		char name[SUBSCRIBER_NAME_SIZE + 1]; /* one that is too long remains so */
		struct subscriber_plan plan = *above;
		struct json_object *children;

		if (!json_object_is_type(node, json_type_object))
			continue;
		message_set_place("%s: %s", network->path, key);
		snprintf(name, sizeof(name), "%s", key);
		if (!read_rates(node, &plan) ||
		    !subscribers_add(&network->nodes, fold(name), &plan, true))
			return false;
		if (json_object_object_get_ex(node, "children", &children) &&
		    json_object_is_type(children, json_type_object) &&
		    !add_nodes(network, children, &plan))
			return false;
	}
	return true;
}

static bool add_all(struct network *network, struct json_object *nodes)
{
	static const struct subscriber_plan unlimited = { .down = DUALPI2_RATE_MAX,
							  .up = DUALPI2_RATE_MAX };
	const bool is_added =
		subscribers_begin(&network->nodes) && add_nodes(network, nodes, &unlimited);

	message_set_place(NULL);
	return is_added;
}

bool network_parse(struct network *network, const char *text)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *nodes;
	bool is_parsed;

	network->is_there = true;
	if (!tokener)
		return fail(ENOMEM, "no memory for %s", network->path);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* with its NUL: nothing follows */
	nodes = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
	is_parsed = json_object_is_type(nodes, json_type_object);
	if (is_parsed)
		is_parsed = add_all(network, nodes);
	else
		fail(0, "%s:%u: not a tree of nodes in JSON: %s", network->path,
		     line_of(text, json_tokener_get_parse_end(tokener)),
		     nodes ? "it is no object"
			   : json_tokener_error_desc(json_tokener_get_error(tokener)));
	json_object_put(nodes);
	json_tokener_free(tokener);
	return is_parsed;
}

/* The name of the one beside a file. False: it is too long for there to be one. */
static bool find_path(const char *circuits, char path[PATH_MAX])
{
	const char *slash = strrchr(circuits, '/');
	const int length = slash ? (int)(slash + 1 - circuits) : 0;

	return snprintf(path, PATH_MAX, "%.*s" FILE_NAME, length, circuits) < PATH_MAX;
}

bool network_read(const char *circuits, struct network *network)
{
	char *text;
	size_t size;
	bool is_read;

	*network = (struct network){};
	if (!find_path(circuits, network->path) ||
	    (access(network->path, F_OK) && (errno == ENOENT || errno == ENOTDIR)))
		return true;
	text = malloc(SIZE_MOST + 1);
	if (!text)
		return fail(ENOMEM, "no memory for %s", network->path);
	is_read = lines_load(network->path, text, SIZE_MOST, &size) &&
		  network_parse(network, lines_begin(text));
	free(text);
	return is_read;
}

void network_free(struct network *network)
{
	subscribers_free(&network->nodes);
}

bool network_parent(const struct network *network, char *name, struct subscribers *list,
		    const struct subscriber **parent)
{
	const struct subscriber *node;

	*parent = NULL;
	if (!*name || !strcmp(name, NO_PARENT) || (network->is_there && !network->nodes.count))
		return true;
	if (!network->is_there)
		return fail(0,
			    "%s: no " FILE_NAME " beside this file has its rates: copy it, or "
			    "write {} to one if circuits shall have no parents",
			    name);
	node = subscribers_find(&network->nodes, fold(name));
	if (!node)
		return fail(0, "%s: no such node in %s", name, network->path);
	*parent = subscribers_find(list, name);
	if (!*parent || !(*parent)->is_parent)
		*parent = subscribers_add(list, name, &node->plan, true);
	return *parent;
}
