// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: the tools find no BPF map among those of the host, so what is registered is the
 * kernel's own.
 */
#include <bpf/bpf.h>
#include <errno.h>

int bpf_map_get_next_id(__u32 start_id, __u32 *next_id)
{
	(void)start_id;
	(void)next_id;
	errno = ENOENT;
	return -ENOENT;
}
