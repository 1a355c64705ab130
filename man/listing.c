// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* In place of libraries, where a program is linked only to list its options: what it calls of them
 * on the way to --help.
 */
#include <bpf/libbpf.h>

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t function)
{
	return function;
}
