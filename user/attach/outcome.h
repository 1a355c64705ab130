/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was done for an interface: the facts, for somebody to say (show/outcome.h). */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <net/if.h>

#include "interface/target.h"
#include "subscribers/changes.h"

enum outcome_kind {
	OUTCOME_NONE,	      /* nothing was to be done that has to be said, or it failed */
	OUTCOME_ATTACHED,     /* in the place of `former`, if that is anything */
	OUTCOME_CHANGED,      /* its parameters, and `repairs` */
	OUTCOME_REPAIRED,     /* nothing but `repairs` */
	OUTCOME_UNCHANGED,    /* it is attached as requested */
	OUTCOME_CHANGED_BACK, /* its parameters, after something else failed */
	OUTCOME_PUT_BACK,     /* nothing is attached, as before */
	OUTCOME_UNLOADED,
	OUTCOME_NOT_THERE, /* nothing to unload */
	OUTCOME_REMOVED,   /* `ifb`, which the interface no longer feeds */
	OUTCOME_LIVE,	   /* nothing was done: it is attached, with `params` */
	OUTCOME_HIDDEN,	   /* the same, but these cannot be seen */
};

/* What was found missing, and is there again. */
struct repairs {
	bool tcx;
	bool gso;
	bool hosts;
	bool subscribers;
	size_t queues;
};

/* How GSO packets are split, if that has to be said. */
struct gso_outcome {
	bool is_split;	       /* by a device of ours */
	const char *why_whole; /* they are queued whole, behind "cannot be split"; or NULL */
	__u32 max_segs;	       /* that local senders keep to then */
};

struct outcome {
	enum outcome_kind kind;
	const char *ifname;	      /* as the caller has it */
	char label[TARGET_LABEL_MAX]; /* begins what is said: "eth0, ingress (in-eth0)" */

	/* of what is attached */
	const struct aqm *aqm;	       /* NULL: nothing is */
	const struct request *request; /* as it was made */
	struct dualpi2_params params;  /* in force */
	bool is_mq;
	const struct aqm *former; /* NULL: it took no place of ours */
	__u32 former_handle;
	struct repairs repairs;
	struct gso_outcome gso;
	const char *host_side;				 /* host_side_decide() */
	size_t subscribers;				 /* of what is attached now, with parents */
	size_t subscriber_changes[N_SUBSCRIBER_CHANGES]; /* by kind */

	/* of --ingress */
	char ifb[IF_NAMESIZE];
	bool is_fed_again; /* what arrives goes through the ifb again */

	/* of what is unloaded */
	char incomplete[QDISC_KIND_MAX]; /* the former root is there again with less; or "" */
	const struct aqm *registered;	 /* stays so, because it may be the default; or NULL */
};

/* Is told of an outcome, whose texts and request need not stay valid afterwards. */
typedef void outcome_tell(const struct outcome *outcome);

#endif /* OUTCOME_H */
