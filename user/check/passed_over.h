/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who else looks at what arrives at an interface, and would see no packet any more with --ingress:
 * its program takes them away before, and what the ifb hands back is past all of them
 * (net/core/dev.c, __netif_receive_skb_core(): skip_classify).
 */
#ifndef PASSED_OVER_H
#define PASSED_OVER_H

#define PASSED_OVER_MAX 160

struct passed_over {
	char whose[PASSED_OVER_MAX];  /* "its tc ingress filters", "the nft chain fw ingress" */
	char remedy[PASSED_OVER_MAX]; /* a command, and what to do instead */
};

/* 1; 0: nobody; -errno: unknown. -EPERM: without CAP_NET_ADMIN only tc's filters can be seen, of
 * which there are none.
 */
int passed_over_look(int ifindex, const char *ifname, struct passed_over *who);

#endif /* PASSED_OVER_H */
