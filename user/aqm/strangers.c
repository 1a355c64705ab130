// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "aqm/strangers.h"

#define INTERFACE_FIRST "the interface comes first, as in `dualpi2-load eth0`"
#define NO_ATM                                                                              \
	"there is no ATM framing here: attach, then `tc qdisc replace dev IFACE root stab " \
	"linklayer atm overhead N bpf_dualpi2`"
#define NO_CLASSES \
	"there are no classes: the ECN field, --l4s-dscp and --classic-dscp choose a queue"
#define NO_FLOWS "nothing is kept for a flow or a host: all share two queues"
#define ONE_DIRECTION "a run of its own for each: --rate for upload, --ingress --rate for download"

const struct foreign_word strangers[] = {
	/* tc's line up to the parameters */
	{ "qdisc", INTERFACE_FIRST },
	{ "add", INTERFACE_FIRST },
	{ "change", INTERFACE_FIRST },
	{ "dev", "leave out dev" },
	{ "root", "leave it out, the root is meant" },
	{ "parent", "the root is meant; --mq is for each transmit queue" },
	{ "dualpi2", "leave it out" },
	{ "bpf-dualpi2", "leave it out" },
	{ "cake", "leave it out" },
	{ "fq-codel", "leave it out" },
	{ "stab", "give --overhead and --mpu" },
	/* cake */
	{ "bandwidth", "did you mean --rate?" },
	{ "unlimited", "did you mean --rate 0?" },
	{ "autorate-ingress", "the rate stays as it is given: --rate" },
	{ "rtt", "did you mean --max-rtt?" },
	{ "datacentre", "did you mean --max-rtt 100us?" },
	{ "lan", "did you mean --max-rtt 1ms?" },
	{ "metro", "did you mean --max-rtt 10ms?" },
	{ "regional", "did you mean --max-rtt 30ms?" },
	{ "internet", "did you mean --max-rtt 100ms? The defaults are close to it" },
	{ "oceanic", "did you mean --max-rtt 300ms?" },
	{ "satellite", "did you mean --max-rtt 1s?" },
	{ "besteffort", NO_CLASSES },
	{ "precedence", NO_CLASSES },
	{ "diffserv3", NO_CLASSES },
	{ "diffserv4", NO_CLASSES },
	{ "diffserv8", NO_CLASSES },
	{ "fwmark", NO_CLASSES },
	{ "flowblind", NO_FLOWS },
	{ "srchost", NO_FLOWS },
	{ "dsthost", NO_FLOWS },
	{ "hosts", NO_FLOWS },
	{ "flows", NO_FLOWS },
	{ "dual-srchost", NO_FLOWS },
	{ "dual-dsthost", NO_FLOWS },
	{ "triple-isolate", NO_FLOWS },
	{ "nat", NO_FLOWS ", so addresses do not matter" },
	{ "nonat", "leave it out: addresses do not matter" },
	{ "wash", "there is none: DSCPs stay as they are" },
	{ "nowash", "leave it out: DSCPs stay as they are" },
	{ "ack-filter", "there is none: all ACKs are sent" },
	{ "ack-filter-aggressive", "there is none: all ACKs are sent" },
	{ "no-ack-filter", "leave it out: all ACKs are sent" },
	{ "conservative", NO_ATM },
	{ "atm", NO_ATM },
	{ "noatm", "leave it out: there is no ATM framing" },
	{ "ptm", "--pppoe-ptm has PTM framing; --overhead N beside it sets the bytes" },
	{ "bridged-ptm", "give --pppoe-ptm --overhead 22" },
	{ "pppoa-vcmux", NO_ATM },
	{ "pppoa-llc", NO_ATM },
	{ "pppoe-vcmux", NO_ATM },
	{ "pppoe-llcsnap", NO_ATM },
	{ "bridged-vcmux", NO_ATM },
	{ "bridged-llcsnap", NO_ATM },
	{ "ipoa-vcmux", NO_ATM },
	{ "ipoa-llcsnap", NO_ATM },
	{ "ether-vlan", "give --ethernet --overhead 42" },
	{ "via-ethernet", "leave it out: --overhead counts from the IP header on" },
	/* fq_codel */
	{ "interval", "did you mean --codel-interval, of --aqm codel?" },
	{ "quantum", NO_FLOWS },
	{ "drop-batch", "there is none: packets are dropped one by one" },
	{ "ecn", "leave it out: ECN-capable packets are always marked" },
	{ "noecn", "ECN-capable packets are always marked, or dropped in overload" },
	{ "ce-threshold", "did you mean --step-thresh?" },
	{ "ce-threshold-selector", "the ECN field chooses the queue: --any-ect, --l4s-dscp" },
	{ "memory-limit", "did you mean --memlimit?" },
	/* sqm-scripts */
	{ "uplink", ONE_DIRECTION },
	{ "downlink", ONE_DIRECTION },
	{ "upload", ONE_DIRECTION },
	{ "download", ONE_DIRECTION },
	{ "linklayer", "give --ethernet, --docsis or --pppoe-ptm, or --overhead and --mpu" },
	{ "tcmpu", "did you mean --mpu?" },
	{ "mtu", "leave it out: packets of every size are counted" },
	/* ours, behind the flag that it belongs to */
	{ "auto", "did you mean --auto-split-gso?" },
	{},
};
