/* SPDX-License-Identifier: GPL-2.0-only */
/* A link of its own for each qdisc: the shaper of shaper.h, or the device. */
#ifndef LINK_OWN_BPF_H
#define LINK_OWN_BPF_H

#include "link.bpf.h"
#include "shaper.h"

#define LINK_KIND AQM_KIND
#define LINK_CLOCK_H "link/own_clock.bpf.h"

struct link_clock {
	struct shaper shaper;
};

struct on_link {
};

struct slot {
};

#endif /* LINK_OWN_BPF_H */
