/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The AQMs that there are. Each is a BPF object with its own kind of qdisc and its own
 * registration. All that the tools know of one is in its header include/aqm/NAME.h.
 */
#ifndef AQM_H
#define AQM_H

#include <stddef.h>

struct aqm {
	const char *name;		     /* of --aqm */
	const char *kind;		     /* of its qdisc */
	const char *about;		     /* a line for --help */
	const void *(*object)(size_t *size); /* the BPF object: an ELF file */
};

/* All of them, the default first, then NULL. Made by the Makefile from what there is in bpf/aqm/.
 */
#define AQMS_MAX 16
extern const struct aqm *const aqms[AQMS_MAX + 1];

/* The one of that name or kind; NULL: there is none. */
const struct aqm *aqm_by_name(const char *name);
const struct aqm *aqm_by_kind(const char *kind);

#endif /* AQM_H */
