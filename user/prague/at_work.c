// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/at_work.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "kernel/object_shape.h"
#include "prague/programs.h"

/* Of maps that are ours, in this version. */
static const struct object_shape sockets_shape = {
	.name = "prague_sockets",
	.type = BPF_MAP_TYPE_SK_STORAGE,
	.key_size = sizeof(int),
	.value_size = sizeof(struct prague_socket),
};
static const struct object_shape classic_shape = {
	.name = "prague_classic",
	.type = BPF_MAP_TYPE_LRU_HASH,
	.key_size = sizeof(struct prague_destination),
	.value_size = sizeof(struct prague_sighting),
};

/* The next of a shape behind this id, as object_next(). */
static int next_map(__u32 *id, const struct object_shape *shape)
{
	int map, fits = 0;

	while (!fits && (map = object_next(OBJECT_MAP, id)) >= 0) {
		fits = object_has_shape(map, shape);
		if (fits <= 0)
			close(map);
	}
	return fits < 0 ? fits : map;
}

static int each_map(const struct object_shape *shape, bool (*visit)(int map, void *data),
		    void *data)
{
	__u32 id = 0;
	int map, count = 0;
	bool whole = true;

	while (whole && (map = next_map(&id, shape)) >= 0) {
		whole = visit(map, data);
		close(map);
		count++;
	}
	return whole && map != -ENOENT ? map : count;
}

struct sockets {
	struct programs programs; /* which has no more than the iterator and the map */
	void (*visit)(const struct prague_report *socket, void *data);
	void *data;
};

static bool visit_sockets(int map, void *data)
{
	struct sockets *sockets = data;

	sockets->programs.sockets = map;
	if (sockets->programs.status < 0)
		sockets->programs.status = programs_load_report();
	return sockets->programs.status >= 0 &&
	       programs_each_socket(&sockets->programs, sockets->visit, sockets->data);
}

int at_work_each_socket(const struct programs *pinned,
			void (*visit)(const struct prague_report *socket, void *data), void *data)
{
	struct sockets sockets = { PROGRAMS_NONE, visit, data };
	int count;

	sockets.programs.status = pinned->status;
	count = each_map(&sockets_shape, visit_sockets, &sockets);
	if (sockets.programs.status >= 0 && sockets.programs.status != pinned->status)
		close(sockets.programs.status);
	return count;
}

struct maps {
	void (*visit)(int map, void *data);
	void *data;
};

static bool visit_classic(int map, void *data)
{
	const struct maps *maps = data;

	maps->visit(map, maps->data);
	return true;
}

int at_work_each_classic(void (*visit)(int map, void *data), void *data)
{
	struct maps maps = { visit, data };

	return each_map(&classic_shape, visit_classic, &maps);
}
