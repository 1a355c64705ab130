// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/at_work.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "kernel/object_shape.h"
#include "prague/programs.h"

static const struct object_shape sockets_shape = { PRAGUE_SOCKETS_SHAPE };
static const struct object_shape classic_shape = { PRAGUE_CLASSIC_SHAPE };

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

/* The count if the last map was -ENOENT: there are no more; else that error. */
static int counted(int count, int last)
{
	return last == -ENOENT ? count : last;
}

int at_work_each_socket(const struct programs *pinned,
			void (*visit)(const struct prague_report *socket, void *data), void *data)
{
	struct programs programs = PROGRAMS_NONE; /* no more than the iterator and the map */
	int map = -ENOENT, count = 0;
	bool whole = true;
	__u32 id = 0;

	programs.status = pinned->status;
	while (whole && (map = next_map(&id, &sockets_shape)) >= 0) {
		if (programs.status < 0)
			programs.status = programs_load_report();
		programs.sockets = map;
		whole = programs.status >= 0 && programs_each_socket(&programs, visit, data);
		close(map);
		count++;
	}
	if (programs.status >= 0 && programs.status != pinned->status)
		close(programs.status);
	return whole ? counted(count, map) : count;
}

int at_work_each_classic(void (*visit)(int map, void *data), void *data)
{
	int map, count = 0;
	__u32 id = 0;

	while ((map = next_map(&id, &classic_shape)) >= 0) {
		visit(map, data);
		close(map);
		count++;
	}
	return counted(count, map);
}
