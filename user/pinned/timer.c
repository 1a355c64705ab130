// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pinned/timer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "has_timer.skel.h"

int timer_is_available(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct has_timer_bpf *skel = has_timer_bpf__open_and_load();
	int error = skel ? bpf_prog_test_run_opts(bpf_program__fd(skel->progs.has_timer), &opts)
			 : -errno;

	has_timer_bpf__destroy(skel);
	return error ? error : !opts.retval;
}
