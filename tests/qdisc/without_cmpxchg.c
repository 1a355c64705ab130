// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: the tools find a machine without a compare-and-exchange of two words. There
 * kmalloc_nolock() fails (mm/slub.c), so BPF programs have no timers from 6.18 on, and can keep
 * nothing with a socket from 6.19 on.
 */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	int (*run)(int prog_fd, struct bpf_test_run_opts *opts) =
		(int (*)(int, struct bpf_test_run_opts *))dlsym(RTLD_NEXT, __func__);
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int error = run(prog_fd, opts);

	if (!error && !bpf_prog_get_info_by_fd(prog_fd, &info, &len) &&
	    !strcmp(info.name, "has_timer"))
		opts->retval = (__u32)-ENOMEM;
	return error;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	int (*update)(int fd, const void *key, const void *value, __u64 flags) =
		(int (*)(int, const void *, const void *, __u64))dlsym(RTLD_NEXT, __func__);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_SK_STORAGE)
		return update(fd, key, value, flags);
	errno = ENOMEM;
	return -ENOMEM;
}
