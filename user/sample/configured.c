// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/configured.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aqm/aqm.h"
#include "cli/config.h"
#include "cli/config_dir.h"
#include "cli/message.h"
#include "interface/feeder.h"
#include "kernel/link.h"
#include "kernel/qdisc.h"

/* Where `systemctl enable` puts its links. */
#define UNITS "/etc/systemd/system"

struct looking {
	struct configured *configured;
	struct link *links; /* those that there are, of which only ... */
	size_t count;
	int only; /* this one is meant; 0: all */
};

/* A list with room for one more item; NULL: there is no memory, which is reported. */
static void *lengthen(void *items, size_t count, size_t item_size)
{
	void *longer = realloc(items, (count + 1) * item_size);

	if (!longer)
		fail(ENOMEM, "what is configured: %s", strerror(ENOMEM));
	return longer;
}

/* ---- what the files say ------------------------------------------------------------------ */

/* False: it could not be read. */
static bool read_file(const char *directory, const char *name, struct configuration *configuration)
{
	struct config_part parts[] = {
		[EGRESS] = { .name = direction_name(EGRESS) },
		[INGRESS] = { .name = direction_name(INGRESS) },
		[N_DIRECTIONS] = {},
	};
	struct configuration_file *files;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path) ||
	    !config_look(parts, path))
		return false;
	files = lengthen(configuration->files, configuration->count, sizeof(*files));
	if (!files)
		return false;
	configuration->files = files;
	files += configuration->count++;
	strcpy(files->name, name);
	for (int i = 0; i < N_DIRECTIONS; i++)
		files->is_for[i] = parts[i].is_there;
	return true;
}

void configuration_open(const char *path, struct configuration *configuration)
{
	DIR *directory = opendir(path);
	struct dirent *file;

	*configuration = (struct configuration){ .units = -1, .is_known = directory };
	if (!directory) {
		fail(errno, "--config %s: cannot be read: %s", path, strerror(errno));
		return;
	}
	for (errno = 0; (file = readdir(directory)); errno = 0)
		if (config_is_file(file->d_name) && !read_file(path, file->d_name, configuration))
			configuration->is_known = false;
	if (errno)
		configuration->is_known =
			fail(errno, "--config %s: cannot be read: %s", path, strerror(errno));
	closedir(directory);
	configuration->units = open(UNITS, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void configuration_close(struct configuration *configuration)
{
	free(configuration->files);
	if (configuration->units >= 0)
		close(configuration->units);
}

/* ---- is it to have one? ------------------------------------------------------------------ */

/* As systemd-escape(1) writes a name. */
static void escape(const char *name, char text[4 * CONFIG_NAME_SIZE])
{
	size_t used = 0;

	for (const char *c = name; *c; c++) {
		if (isalnum((unsigned char)*c) || *c == '_' || *c == ':' ||
		    (*c == '.' && c != name))
			text[used++] = *c;
		else
			used += (size_t)sprintf(text + used, "\\x%02x", (unsigned char)*c);
	}
	text[used] = '\0';
}

/* 1, 0, or -errno: unknown. */
static int is_enabled_as(const struct configuration *configuration, const char *ifname)
{
	char name[4 * CONFIG_NAME_SIZE], link[2 * sizeof(name) + 80];

	escape(ifname, name);
	snprintf(link, sizeof(link), "sys-subsystem-net-devices-%s.device.wants/dualpi2@%s.service",
		 name, name);
	if (configuration->units < 0)
		return 0;
	if (!faccessat(configuration->units, link, F_OK, AT_SYMLINK_NOFOLLOW))
		return 1;
	return errno == ENOENT || errno == ENAMETOOLONG ? 0 : -errno;
}

static int is_enabled(const struct configuration *configuration, const struct config_names *names)
{
	int enabled = 0;

	for (size_t i = 0; !enabled && i < names->count; i++)
		enabled = is_enabled_as(configuration, names->of[i]);
	return enabled;
}

/* The file for an interface; NULL: there is none. False: it is not known, which is reported. */
static bool find_file(const struct configuration *configuration, const struct config_names *names,
		      const struct configuration_file **found)
{
	const struct configuration_file *by_default = NULL;
	int enabled;

	*found = NULL;
	for (size_t i = 0; i < configuration->count; i++) {
		const struct configuration_file *file = &configuration->files[i];

		if (!strcmp(file->name, CONFIG_DEFAULT))
			by_default = file;
		if (config_counts(file->name, *found ? (*found)->name : "", names))
			*found = file;
	}
	if (*found || !by_default)
		return true;
	enabled = expect_known(is_enabled(configuration, names), "the unit of %s", names->of[0]);
	if (enabled > 0)
		*found = by_default;
	return enabled >= 0;
}

/* No other request may be made meanwhile. */
static void note_link(const struct link *link, void *data)
{
	struct looking *looking = data;
	struct link *links;

	if (looking->only && looking->only != link->ifindex)
		return;
	links = lengthen(looking->links, looking->count, sizeof(*links));
	if (!links) {
		looking->configured->is_known = false;
		return;
	}
	looking->links = links;
	links[looking->count++] = *link;
}

/* False: it is not known. */
static bool add_direction(struct configured *configured, const struct link *link,
			  enum direction direction)
{
	struct configured_direction *items =
		lengthen(configured->items, configured->count, sizeof(*items));

	if (!items)
		return false;
	configured->items = items;
	items += configured->count++;
	*items = (struct configured_direction){ .direction = direction };
	memcpy(items->ifname, link->name, IF_NAMESIZE);
	return true;
}

/* The directions that an interface with these names is to have. False: they are not known. */
static bool add_directions(const struct configuration *configuration, const struct link *link,
			   const struct config_names *names, struct configured *configured)
{
	const struct configuration_file *file;
	bool known = find_file(configuration, names, &file);

	for (int i = 0; known && file && i < N_DIRECTIONS; i++)
		known = !file->is_for[i] || add_direction(configured, link, (enum direction)i);
	return known;
}

/* The same of an interface. If it has just been removed, it has no names. */
static bool look_at_link(const struct configuration *configuration, const struct link *link,
			 struct configured *configured)
{
	struct config_names names = {};
	bool known = link_each_name(link->ifindex, config_add_name, &names) && !names.is_cut &&
		     (!names.count || add_directions(configuration, link, &names, configured));

	free(names.of);
	return known;
}

/* ---- has it one? ----------------------------------------------------------------------- */

static bool is_ours(const struct qdisc *qdisc, void *data)
{
	(void)data;
	return aqm_of_kind(qdisc->kind);
}

/* 1, 0, or -errno, which is reported: unknown. */
static int is_attached(const struct configured_direction *item)
{
	struct feeder feeder;

	if (!feeder_find(item->ifname, &feeder))
		return -EIO;
	if (item->direction == INGRESS)
		return feeder.aqm != NULL;
	return qdisc_each((int)feeder.key.ifindex, is_ours, NULL);
}

void configured_look(const struct configuration *configuration, const char *ifname,
		     struct configured *configured)
{
	struct looking looking = { .configured = configured };
	struct link link;
	int found = ifname ? link_look_for(ifname, &link) : 0;

	*configured = (struct configured){ .is_known = configuration->is_known && found >= 0 };
	if (found > 0)
		looking.only = link.ifindex;
	if ((!ifname || found > 0) && !link_each(NULL, note_link, &looking))
		configured->is_known = false;
	for (size_t i = 0; i < looking.count; i++)
		configured->is_known &= look_at_link(configuration, &looking.links[i], configured);
	free(looking.links);
	for (size_t i = 0; i < configured->count; i++) {
		configured->items[i].attached = is_attached(&configured->items[i]);
		if (configured->items[i].attached < 0)
			configured->is_known = false;
	}
}
