/* SPDX-License-Identifier: GPL-2.0-only */
/* When a packet may leave: the functions of the link that LINK_H is (link.bpf.h). */
#ifndef CLOCK_BPF_H
#define CLOCK_BPF_H

#include "instance.bpf.h"
#include LINK_CLOCK_H

#endif /* CLOCK_BPF_H */
