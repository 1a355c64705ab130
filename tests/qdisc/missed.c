// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: each look-up in a hash misses its entry, as may happen while the entry is being
 * written.
 */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	int (*look_up)(int fd, const void *key, void *value) =
		(int (*)(int, const void *, void *))dlsym(RTLD_NEXT, __func__);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_HASH)
		return look_up(fd, key, value);
	errno = ENOENT;
	return -ENOENT;
}
