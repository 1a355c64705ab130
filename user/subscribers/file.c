// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "subscribers/file.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/lines.h"
#include "cli/message.h"
#include "subscribers/libreqos.h"
#include "subscribers/own.h"

static bool parse(const char *path, char *text, size_t size, struct subscribers *list)
{
	return libreqos_is_header(lines_begin(text)) ? libreqos_parse(path, text, size, list)
						     : own_parse(path, text, size, list);
}

bool subscribers_parse(const char *path, char *text, size_t size, struct subscribers *list)
{
	/* What a program leaves that fails while it writes the file must not end all plans. */
	if (subscribers_begin(list) && parse(path, text, size, list) &&
	    (list->count || fail(0, "%s: has no subscribers", path))) {
		subscribers_end(list);
		return true;
	}
	subscribers_free(list);
	return false;
}

bool subscribers_read(const char *path, struct subscribers *list)
{
	char *text = malloc(SUBSCRIBERS_SIZE_MAX + 1); /* the kernel gives what is used of it */
	size_t size;
	bool is_read;

	*list = (struct subscribers){};
	if (!text)
		return fail(ENOMEM, "no memory for %s", path);
	is_read = lines_load(path, text, SUBSCRIBERS_SIZE_MAX, &size) &&
		  subscribers_parse(path, text, size, list);
	free(text);
	return is_read;
}
