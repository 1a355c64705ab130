// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "kernel/netns.h"
#include "pinned/ledger.h"

int netns_is_gone(const struct registrations *regs, __u64 netns)
{
	int gone = -EBADF;

	for (size_t i = 0; gone < 0 && i < regs->count; i++)
		gone = netns_has_ended(regs->of[i].find_netns, netns);
	return gone;
}

void stats_refresh(const struct registration *reg)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int error = bpf_prog_test_run_opts(reg->refresh, &opts);

	if (error)
		verbose("cannot refresh the statistics: %s", strerror(-error));
}

void stats_refresh_all(const struct registrations *regs)
{
	for (size_t i = 0; i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]))
			stats_refresh(&regs->of[i]);
	}
}

/* Search all entries. A batch is read under the lock of each bucket (kernel/bpf/hashtab.c,
 * __htab_map_lookup_and_delete_batch()), so it misses none.
 */
static int find_published(int map, const struct dualpi2_key *key, void *value, size_t size)
{
	struct dualpi2_key *keys = calloc(DUALPI2_MAX_INSTANCES, sizeof(*keys));
	char *values = calloc(DUALPI2_MAX_INSTANCES, size);
	__u32 count = DUALPI2_MAX_INSTANCES, next;
	int found = -ENOMEM;

	if (keys && values)
		found = bpf_map_lookup_batch(map, NULL, &next, keys, values, &count, NULL);
	if (found == -ENOENT) { /* these were all */
		found = 0;
		for (__u32 i = 0; !found && i < count; i++) {
			found = !memcmp(&keys[i], key, sizeof(*key));
			if (found)
				memcpy(value, values + i * size, size);
		}
	}
	free(keys);
	free(values);
	return found;
}

/* An entry moves whenever it is written, and a look-up may miss it at that very moment. */
static int read_published(int map, const struct dualpi2_key *key, void *value, size_t size)
{
	int found = map_read(map, key, value);

	return found || map < 0 ? found : find_published(map, key, value, size);
}

int stats_read(const struct registration *reg, const struct dualpi2_key *key,
	       struct dualpi2_stats *stats)
{
	return read_published(reg->stats, key, stats, sizeof(*stats));
}

int delays_read(const struct registration *reg, const struct dualpi2_key *key,
		struct dualpi2_delays *delays)
{
	return read_published(reg->delays, key, delays, sizeof(*delays));
}

int values_read(const struct registration *reg, __u32 number, struct dualpi2_values *values)
{
	return map_read(reg->values, &number, values);
}

int conf_read(const struct registration *reg, const struct dualpi2_key *key,
	      struct dualpi2_params *params)
{
	struct dualpi2_key conf_key = interface_key(key);

	return map_read(reg->conf, &conf_key, params);
}

bool conf_write(const struct registration *reg, const struct dualpi2_key *key,
		const struct dualpi2_params *params)
{
	struct dualpi2_key conf_key = interface_key(key);

	if (bpf_map_update_elem(reg->conf, &conf_key, params, BPF_ANY))
		return fail(errno, "cannot store the parameters: %s",
			    errno == E2BIG ? "no more interfaces can have some: unload one"
					   : strerror(errno));
	return true;
}

bool params_change(const struct registration *reg, const struct dualpi2_key *key,
		   const struct dualpi2_params *params)
{
	struct dualpi2_change change = { .key = *key, .params = *params };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &change, .ctx_size_in = sizeof(change));
	int error = bpf_prog_test_run_opts(reg->change, &opts);

	if (!error)
		error = (int)opts.retval;
	if (error == -ENOENT)
		return fail(-error, "cannot change the live qdisc: it has just been removed");
	return !error || fail(-error, "cannot change the live qdisc: %s", strerror(-error));
}

void conf_forget(const struct registration *reg, const struct dualpi2_key *key)
{
	struct dualpi2_key conf_key = interface_key(key);

	bpf_map_delete_elem(reg->conf, &conf_key);
}

void confs_forget(const struct registrations *regs, const struct dualpi2_key *key)
{
	for (size_t i = 0; i < regs->count; i++)
		conf_forget(&regs->of[i], key);
}

int instance_lives(const struct registrations *regs, const struct dualpi2_key *key)
{
	int lives = 0;

	for (size_t i = 0; !lives && i < regs->count; i++) {
		if (registration_is_open(&regs->of[i]))
			lives = registration_lives(&regs->of[i], key);
	}
	return lives > 0 ? 1 : lives;
}
