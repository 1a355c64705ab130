/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of TCP Prague with their maps, registered with the kernel: for good, pinned, or for
 * as long as we run.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdbool.h>

#include "tcp_prague.h"

#define PRAGUE_PIN_DIR "/sys/fs/bpf/tcp-prague"
#define PRAGUE_PINS "prague" /* directory in it */

#define PRAGUE_KERNEL 6, 18 /* the first with AccECN for a congestion control */

/* The shapes (struct object_shape) of the maps of a Prague of this version. */
#define PRAGUE_CONFIG_SHAPE                                                             \
	.name = "prague_config", .type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(__u32), \
	.value_size = sizeof(struct prague_config)
#define PRAGUE_SOCKETS_SHAPE                                                                \
	.name = "prague_sockets", .type = BPF_MAP_TYPE_SK_STORAGE, .key_size = sizeof(int), \
	.value_size = sizeof(struct prague_socket)
#define PRAGUE_CLASSIC_SHAPE                                     \
	.name = "prague_classic", .type = BPF_MAP_TYPE_LRU_HASH, \
	.key_size = sizeof(struct prague_destination),           \
	.value_size = sizeof(struct prague_sighting)

/* File descriptors, or -1. */
struct programs {
	int registration;
	int config, sockets, classic;
	int ect1, status;
	bool is_current; /* of programs_open(): this version of the tool has made them */
};

#define PROGRAMS_NONE ((struct programs){ -1, -1, -1, -1, -1, -1, false })

/* Load and register them, as the congestion control `name`. `before` (NULL: none): those of another
 * version with the same PRAGUE_ABI, which they replace; their maps and sockets stay.
 */
bool programs_load(const char *name, const struct programs *before, struct programs *programs);

/* Load only the iterator over sockets, for maps of any Prague: a file descriptor, or -1, which is
 * reported.
 */
int programs_load_report(void);

/* Has the kernel a congestion control PRAGUE_NAME that no BPF program has registered, ours or
 * another one's: 1, 0, or -errno: unknown?
 */
int prague_is_kernels(void);

/* Open those that are pinned: 1; 0: there are none; -errno, which is reported. The lock is held. */
int programs_open(struct programs *programs);

bool programs_pin(const struct programs *programs);
void programs_unpin(void);
void programs_close(struct programs *programs);

bool programs_configure(const struct programs *programs, const struct prague_config *config);

/* No new socket gets it; live ones fall back at their next ACK. */
void programs_retire(const struct programs *programs);

/* Call `visit` for each socket. False: it is reported why that cannot be. */
bool programs_each_socket(const struct programs *programs,
			  void (*visit)(const struct prague_report *socket, void *data),
			  void *data);

#endif /* PROGRAMS_H */
