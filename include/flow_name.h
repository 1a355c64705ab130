/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a flow is called: what its packet says, as far as the kernel's flow dissector reads it for
 * its hash (net/core/flow_dissector.c), by which unusual packets are told apart (flows.bpf.h).
 * Behind IPv4, IPIP and GRE the innermost header counts. A flow label of IPv6 ends the search of
 * tunnels, because the hash has that in place of what follows.
 *
 * Several flows may have one id. So the name is that of one packet.
 */
#ifndef DUALPI2_FLOW_NAME_H
#define DUALPI2_FLOW_NAME_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Bits of flow_name.has. */
#define FLOW_NAME_PORTS 1    /* the ports are known */
#define FLOW_NAME_SPI 2	     /* the SPI is known */
#define FLOW_NAME_FRAGMENT 4 /* a fragment of a packet, which has neither */

struct flow_name {
	__u8 source[16]; /* addresses in network order; of IPv4 the first four bytes, then 0 */
	__u8 target[16];
	__u32 label;	   /* of IPv6, 1..2^20-1; 0: none */
	__u32 spi;	   /* of ESP (RFC 4303, 2.1) or AH (RFC 4302, 2.4) */
	__u16 source_port; /* of TCP, UDP, UDP-Lite, DCCP or SCTP, 0..65535 */
	__u16 target_port;
	__u8 version;  /* of IP: 4 or 6; 0: no header of IP was found, and all else is 0 */
	__u8 protocol; /* IANA's number, behind the IP header and the options of IPv6 */
	__u8 has;      /* FLOW_NAME_* */
	__u8 tunnels;  /* IP headers in front of this one, 0..14 */
};

#endif /* DUALPI2_FLOW_NAME_H */
