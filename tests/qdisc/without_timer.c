// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: the tools find a machine on which BPF programs can have no timers. */
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
