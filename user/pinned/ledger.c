// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/ledger.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

#define LEDGER_DIR "ledger"

static const struct {
	const char *name; /* of the map and its pin */
	const char *what;
	__u32 size; /* of an entry */
	__u32 max;  /* entries */
} ledgers[N_LEDGERS] = {
	[LEDGER_DEVICES] = { LEDGER_DEVICES_MAP, "a device of ours", sizeof(struct dualpi2_device),
			     2 * DUALPI2_MAX_INSTANCES },
	[LEDGER_PRIORS] = { "dualpi2_priors", "the former root qdisc", sizeof(struct qdisc),
			    DUALPI2_MAX_INSTANCES },
	[LEDGER_SETTINGS] = { "dualpi2_setting", "the former settings",
			      sizeof(struct prior_settings), DUALPI2_MAX_INSTANCES },
};

static int fds[N_LEDGERS] = { -1, -1, -1 };

int ledger_fd(enum ledger ledger)
{
	return fds[ledger];
}

static bool open_one(enum ledger ledger)
{
	const struct object_shape shape = {
		.type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(struct dualpi2_key),
		.value_size = ledgers[ledger].size,
	};
	int fd = pin_open_as(LEDGER_DIR, ledgers[ledger].name, &shape);

	if (fd == -ENOENT)
		return true;
	if (fd == -EPROTO)
		return fail(0, PINS_OTHER_VERSION);
	if (fd < 0)
		return pin_refuse(fd, LEDGER_DIR, ledgers[ledger].name);
	fds[ledger] = fd;
	return true;
}

bool ledger_open(void)
{
	for (int ledger = 0; ledger < N_LEDGERS; ledger++) {
		if (fds[ledger] < 0 && !open_one(ledger))
			return false;
	}
	return true;
}

static bool make_one(enum ledger ledger)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);

	fds[ledger] =
		bpf_map_create(BPF_MAP_TYPE_HASH, ledgers[ledger].name, sizeof(struct dualpi2_key),
			       ledgers[ledger].size, ledgers[ledger].max, &opts);
	if (fds[ledger] < 0)
		return fail(errno, "the kernel refuses to create a BPF map: %s", strerror(errno));
	return pin_create(fds[ledger], LEDGER_DIR, ledgers[ledger].name);
}

bool ledger_make(void)
{
	for (int ledger = 0; ledger < N_LEDGERS; ledger++) {
		if (fds[ledger] < 0 && !make_one(ledger))
			return false;
	}
	return true;
}

/* Unless the kernel says that it has none, a map may have entries. */
static bool may_have_entries(enum ledger ledger)
{
	struct dualpi2_key key;

	return fds[ledger] >= 0 &&
	       (!bpf_map_get_next_key(fds[ledger], NULL, &key) || errno != ENOENT);
}

void ledger_remove_if_empty(void)
{
	for (int ledger = 0; ledger < N_LEDGERS; ledger++) {
		if (may_have_entries(ledger))
			return;
	}
	for (int ledger = 0; ledger < N_LEDGERS; ledger++) {
		pin_forget(LEDGER_DIR, ledgers[ledger].name);
		if (fds[ledger] >= 0)
			close(fds[ledger]);
		fds[ledger] = -1;
	}
	pins_remove_directory(LEDGER_DIR);
}

int map_read(int map, const void *key, void *value)
{
	if (map < 0 || bpf_map_lookup_elem(map, key, value))
		return map < 0 || errno == ENOENT ? 0 : -errno;
	return 1;
}

static struct dualpi2_key entry_key(enum ledger ledger, const struct dualpi2_key *key)
{
	return ledger == LEDGER_DEVICES ? *key : interface_key(key);
}

int ledger_read(enum ledger ledger, const struct dualpi2_key *key, void *entry)
{
	const struct dualpi2_key map_key = entry_key(ledger, key);

	memset(entry, 0, ledgers[ledger].size);
	return expect_known(map_read(fds[ledger], &map_key, entry), "the record of %s",
			    ledgers[ledger].what);
}

bool ledger_write(enum ledger ledger, const struct dualpi2_key *key, const void *entry)
{
	const struct dualpi2_key map_key = entry_key(ledger, key);

	return !bpf_map_update_elem(fds[ledger], &map_key, entry, BPF_ANY) ||
	       fail(errno, "cannot record %s: %s", ledgers[ledger].what,
		    errno == E2BIG ? "there is no room for more: unload some" : strerror(errno));
}

void ledger_erase(enum ledger ledger, const struct dualpi2_key *key)
{
	const struct dualpi2_key map_key = entry_key(ledger, key);

	bpf_map_delete_elem(fds[ledger], &map_key);
}
