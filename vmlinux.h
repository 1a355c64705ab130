/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel types that bpf/ touches, and of each only the members it touches.
 *
 * This is a hand-trimmed CO-RE header: `preserve_access_index` makes the
 * compiler record every member access by name, and libbpf fills in the offsets
 * of the running kernel when it loads the object. So members may be left out,
 * and their order here means nothing. Types of the user-space API
 * (struct __sk_buff, struct bpf_list_head, ...) come from <linux/bpf.h>.
 *
 * `make check-vmlinux` compares each member with a kernel's BTF.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/types.h>
#include <stdbool.h>

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

typedef unsigned int sk_buff_data_t;
typedef s64 ktime_t;

/* include/linux/ns_common.h: the inode number, which comes again when a namespace is gone. */
struct ns_common {
	unsigned int inum;
};

/* include/linux/types.h */
struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

/* include/net/net_namespace.h */
struct netns_ipv4 {
	u8 sysctl_tcp_slow_start_after_idle;
};

struct net {
	struct ns_common ns;
	struct list_head list;
	struct hlist_head *dev_index_head;
	struct netns_ipv4 ipv4;
	u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct Qdisc;

/* include/linux/netdevice.h */
struct xps_map {
	unsigned int len;
	u16 queues[];
};

struct xps_dev_maps {
	unsigned int nr_ids;
	s16 num_tc;
	struct xps_map *attr_map[];
};

struct bpf_mprog_entry;

struct bpf_map {
	u32 max_entries;
};

struct net_device {
	char name[16];
	int ifindex;
	unsigned int mtu;
	unsigned short hard_header_len;
	unsigned short type;
	unsigned long state;
	unsigned int gso_max_size;
	unsigned int gso_ipv4_max_size;
	u16 gso_max_segs;
	struct hlist_node index_hlist;
	struct Qdisc *qdisc;
	struct netdev_queue *_tx;
	unsigned int real_num_tx_queues;
	struct xps_dev_maps *xps_maps[2];
	struct bpf_mprog_entry *tcx_egress;
	const unsigned char *dev_addr;
	unsigned char upper_level;
	unsigned char lower_level;
	possible_net_t nd_net;
};

struct netdev_queue {
	struct net_device *dev;
	struct Qdisc *qdisc;
};

struct netdev_xmit {
	u16 recursion;
};

struct softnet_data {
	struct netdev_xmit xmit;
};

/* include/net/sock.h */
struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	unsigned short skc_tx_queue_mapping;
};

struct sock {
	struct sock_common __sk_common;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

/* include/net/inet_sock.h, include/net/inet_connection_sock.h */
struct inet_sock {
	struct sock sk;
};

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u32 icsk_rto;
	u8 icsk_ca_state : 5;
};

/* include/linux/win_minmax.h */
struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

/* include/linux/tcp.h */
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u16 tcp_header_len;
	u8 ecn_flags;
	u8 is_cwnd_limited : 1;
	u8 accecn_fail_mode : 4;
	u32 snd_ssthresh;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 mss_cache;
	u32 srtt_us;
	u32 packets_out;
	u32 max_packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 delivered;
	u32 delivered_ce;
	u32 segs_out;
	u32 lsndtime;
	u64 tcp_mstamp;
	struct minmax rtt_min;
};

/* include/net/tcp.h */
struct rate_sample {
	long rtt_us;
	u32 acked_sacked;
};

enum tcp_ca_event {
	CA_EVENT_TX_START = 0,
};

struct ack_sample;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*cwnd_event_tx_start)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	u32 flags;
	char name[16];
};

/* kernel/bpf/bpf_iter.c, net/core/bpf_sk_storage.c */
struct seq_file;

struct bpf_iter_meta {
	union {
		struct seq_file *seq;
	};
};

struct bpf_iter__bpf_sk_storage_map {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct sock *sk;
	};
	union {
		void *value;
	};
};

/* include/linux/skbuff.h */
struct skb_shared_info {
	unsigned short gso_size;
	unsigned short gso_segs;
	unsigned int gso_type;
};

/* include/net/dst.h */
struct lwtunnel_state;

struct dst_entry {
	unsigned short flags;
	struct lwtunnel_state *lwtstate;
};

enum skb_ext_id { SKB_EXT_SEC_PATH = 0 };

struct sk_buff {
	struct sock *sk;
	struct net_device *dev;
	char cb[48];
	unsigned long _skb_refdst;
	unsigned int len;
	u8 ooo_okay : 1;
	u8 decrypted : 1;
	u8 active_extensions;
	u32 priority;
	__be16 protocol;
	u16 network_header;
	u16 transport_header;
	sk_buff_data_t end;
	unsigned char *head;
	unsigned char *data;
	unsigned int truesize;
};

/* include/net/sch_generic.h: the part of skb->cb that belongs to the qdisc
 * layer. `data` is the qdisc's own, and what a tcx program writes to
 * __sk_buff.cb.
 */
struct qdisc_skb_cb {
	unsigned int pkt_len; /* bytes, headers of every GSO segment included */
	unsigned char data[20];
};

struct qdisc_skb_head {
	u32 qlen;
};

/* include/uapi/linux/gen_stats.h */
struct gnet_stats_queue {
	__u32 qlen;
	__u32 backlog;
	__u32 drops;
	__u32 requeues;
	__u32 overlimits;
};

struct Qdisc {
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
	u32 limit;
	u32 handle;
	u32 parent;
	struct netdev_queue *dev_queue;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

struct nlattr;
struct netlink_ext_ack;

struct Qdisc_ops {
	char id[16];
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
	struct sk_buff *(*dequeue)(struct Qdisc *sch);
	int (*init)(struct Qdisc *sch, struct nlattr *arg, struct netlink_ext_ack *extack);
	void (*reset)(struct Qdisc *sch);
	void (*destroy)(struct Qdisc *sch);
};

/* net/sched/bpf_qdisc.c: how the enqueue program sees `to_free`. */
struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
