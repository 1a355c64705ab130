/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The virtual queues of VDQ-CSAQM (Nadas, Gombos, Fejes, Laki, "A Congestion Control Independent
 * L4S Scheduler", ANRW 2020), in integers and without side effects but on their own state, for BPF
 * and user space. bpf/aqm/vdq.bpf.h names the patents that read on it.
 *
 * A virtual queue is a FIFO of (packet value, length) that a virtual link serves, a little slower
 * than the real one, so that it grows before the real one does. One histogram has the bytes that
 * wait in it by value, another those that came since the last update, dropped ones, too. From the
 * latter follows the congestion threshold value (CTV): packets with more value pass, the others are
 * marked or dropped.
 *
 * What the paper leaves open, and what is done here: the CTV lets pass, of a load like the latest,
 * what the virtual link carries until the next CTV and what is missing to the target delay, or less
 * by an eighth of what waits beyond it. So a steady load waits for the target delay.
 */
#ifndef DUALPI2_VDQ_H
#define DUALPI2_VDQ_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* A value, from 1 to VDQ_VALUE_MAX: what an IPv6 flow label holds. 0: the packet has none. */
#define VDQ_VALUE_BITS 20
#define VDQ_VALUE_MAX ((1U << VDQ_VALUE_BITS) - 1)
#define VDQ_VALUE_MIDDLE (1U << (VDQ_VALUE_BITS - 1))

#define VDQ_BINS_MAX 1024U /* powers of two: the verifier sees a mask */
#define VDQ_RING_MAX 4096U

#define VDQ_PERIOD_NS 10000000ULL     /* T: between two CTVs */
#define VDQ_TARGET_MAX 10000000000ULL /* D, at most 10 s */
#define VDQ_TIME_SHIFT 20	      /* time on the virtual link is counted in 2^-20 ns */
#define VDQ_WAIT_MAX 3600000000000ULL /* an hour, ns: shifted so, it fits 64 bits */

/* What waits too much is made up for in so many periods, as a power of two. Who is marked slows
 * down an RTT later. At once it would be taken from those whose packets are dropped.
 */
#define VDQ_GAIN_SHIFT 3

/* From the parameters, one for each virtual queue. */
struct vdq_law {
	__u64 byte_time; /* 1 / C_v, 2^-20 ns; 0: unknown, and there is no virtual queue */
	__u64 carried;	 /* C_v T, bytes */
	__u64 target;	 /* C_v D, bytes */
	__u32 ring;	 /* packets that the FIFO holds at most, 1..VDQ_RING_MAX */
	__u32 bins;	 /* of the histogram, 1..VDQ_BINS_MAX */
};

struct vdq_entry {
	__u32 len; /* bytes */
	__u32 bin; /* of its value */
};

/* One virtual queue. Whoever tells it of packets holds the qdisc's lock; vdq_update() does not: it
 * may miss a packet, or count what came of one bin in two periods.
 */
struct vdq {
	__u64 served_ns;   /* the virtual link has carried all before the head since then */
	__u64 overflows;   /* packets that found the ring full, and so do not count */
	__u32 served_part; /* of that time, 2^-20 ns */
	__u32 first, end;  /* of the entries in the ring, counted without end */
	__u32 backlog;	   /* bytes that wait for the virtual link: the sum of the bins */
	__u32 ctv;	   /* packets with up to this value are marked or dropped; 0: none */
	__u32 share;	   /* that they were of what came before the last update, 2^-32 */
	__u16 is_empty;	   /* 1: at the last update nothing waited, and nothing had come */
	__u16 is_late;	   /* 1: so much waited that nothing should pass */
	__u32 bin[VDQ_BINS_MAX];
	__u32 came[VDQ_BINS_MAX]; /* bytes that came since the last update */
	struct vdq_entry ring[VDQ_RING_MAX];
};

/* A loop that the verifier walks once (bpf_helpers.h). */
#ifdef __bpf__
#define VDQ_FOR(i, count) bpf_for(i, 0, count)
#else
#define VDQ_FOR(i, count) for ((i) = 0; (i) < (count); (i)++)
#endif

/* `rate`: of the link, bytes/s, below 2^37. `percent`: C_v as a share of it. `delay_ns`: D, up to
 * 10 s.
 */
static inline struct vdq_law vdq_make(__u64 rate, __u32 percent, __u64 delay_ns, __u32 ring,
				      __u32 bins)
{
	struct vdq_law law = { .ring = ring, .bins = bins };
	const __u64 capacity = rate * percent / 100 ?: 1; /* C_v, bytes/s */

	if (!rate)
		return law;
	law.byte_time = (1000000000ULL << VDQ_TIME_SHIFT) / capacity;
	law.carried = capacity * (VDQ_PERIOD_NS / 1000) / 1000000;
	law.target = capacity * (delay_ns / 1000) / 1000000;
	return law;
}

static inline __u32 vdq_bin(const struct vdq_law *law, __u32 value)
{
	return (__u32)((__u64)value * law->bins >> VDQ_VALUE_BITS);
}

/* The highest value in the bins below this one. */
static inline __u32 vdq_value_below(const struct vdq_law *law, __u32 bin)
{
	return (__u32)((((__u64)bin << VDQ_VALUE_BITS) + law->bins - 1) / law->bins) - !!bin;
}

/* Take the head out, if the virtual link has carried it by now. */
static inline bool vdq_serve(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns)
{
	const struct vdq_entry head = vdq->ring[vdq->first % VDQ_RING_MAX];
	const __u64 time = vdq->served_part + head.len * law->byte_time;

	if (vdq->first == vdq->end || vdq->served_ns + (time >> VDQ_TIME_SHIFT) > now_ns)
		return false;
	vdq->served_ns += time >> VDQ_TIME_SHIFT;
	vdq->served_part = time & ((1U << VDQ_TIME_SHIFT) - 1);
	vdq->backlog -= head.len;
	vdq->bin[head.bin % VDQ_BINS_MAX] -= head.len;
	vdq->first++;
	return true;
}

static inline bool vdq_is_full(const struct vdq *vdq, const struct vdq_law *law)
{
	return vdq->end - vdq->first >= law->ring;
}

/* A packet has come to wait for the virtual link. */
static inline void vdq_wait(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns, __u32 bin,
			    __u32 len)
{
	__u32 i;

	VDQ_FOR(i, VDQ_RING_MAX)
		if (!vdq_serve(vdq, law, now_ns))
			break;
	if (vdq_is_full(vdq, law)) {
		vdq->overflows++;
		return;
	}
	if (!vdq->backlog && vdq->served_ns < now_ns) {
		vdq->served_ns = now_ns;
		vdq->served_part = 0;
	}
	vdq->ring[vdq->end % VDQ_RING_MAX] = (struct vdq_entry){ .len = len, .bin = bin };
	vdq->end++;
	vdq->bin[bin] += len;
	vdq->backlog += len;
}

/* A packet has arrived. `passed`: it was not dropped. */
static inline void vdq_tell(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns, __u32 value,
			    __u32 len, bool passed)
{
	const __u32 bin = vdq_bin(law, value) % VDQ_BINS_MAX;

	if (!law->byte_time)
		return;
	vdq->came[bin] += len;
	if (passed)
		vdq_wait(vdq, law, now_ns, bin, len);
}

/* What waits for the virtual link by now, bytes; of more than an hour, what takes an hour. */
static inline __u64 vdq_waiting(const struct vdq *vdq, const struct vdq_law *law, __u64 now_ns)
{
	__u64 most, bytes, done_ns;

	if (!law->byte_time)
		return 0;
	most = (VDQ_WAIT_MAX << VDQ_TIME_SHIFT) / law->byte_time;
	bytes = vdq->backlog < most ? vdq->backlog : most;
	done_ns = vdq->served_ns + (bytes * law->byte_time >> VDQ_TIME_SHIFT);
	return done_ns > now_ns ? ((done_ns - now_ns) << VDQ_TIME_SHIFT) / law->byte_time : 0;
}

/* What may pass in the next period, bytes. */
static inline __u64 vdq_budget(const struct vdq_law *law, __u64 waiting)
{
	__u64 less;

	if (waiting < law->target)
		return law->carried + law->target - waiting;
	less = (waiting - law->target) >> VDQ_GAIN_SHIFT;
	return less < law->carried ? law->carried - less : 0;
}

/* The CTV for the next period, and what that means for what came in the last ones, one if no update
 * was missed. A FIFO that is full holds less than waits: it has nothing more to give up to the
 * target. Where nothing came while more than the target waits, the CTV stays: the next burst is
 * like the one before.
 */
static inline void vdq_update(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns,
			      __u64 periods)
{
	const __u64 waiting = vdq_waiting(vdq, law, now_ns);
	const bool is_cut = waiting && waiting < law->target && vdq_is_full(vdq, law);
	const __u64 budget = vdq_budget(law, is_cut ? law->target : waiting) * periods;
	__u32 bytes = 0, above = 0, ctv = 0, i, bin, more;

	VDQ_FOR(i, law->bins) {
		bin = (law->bins - 1 - i) % VDQ_BINS_MAX;
		more = vdq->came[bin];
		vdq->came[bin] = 0;
		bytes += more;
		if (!ctv && above + more > budget)
			ctv = vdq_value_below(law, bin + 1);
		if (!ctv)
			above += more;
	}
	vdq->is_empty = !waiting && !bytes;
	vdq->is_late = !budget;
	if (!bytes && waiting > law->target)
		return;
	vdq->ctv = ctv;
	vdq->share = ctv ? ((__u64)(bytes - above) << 32) / bytes - !above : 0;
}

/* The first bin of a column, or of a later one. */
static inline __u32 vdq_first_bin(const struct vdq_law *law, __u32 column, __u32 columns)
{
	return (column * law->bins + columns - 1) / columns;
}

/* What waits in columns of values of the same width, from the least value on. `columns`: a power of
 * two. Timer and tools may be here at a time: each column is written once.
 */
static inline void vdq_columns(const struct vdq *vdq, const struct vdq_law *law, __u64 *column,
			       __u32 columns)
{
	__u32 i, bin;

	VDQ_FOR(i, columns) {
		const __u32 first = vdq_first_bin(law, i, columns);
		const __u32 count = vdq_first_bin(law, i + 1, columns) - first;
		__u64 bytes = 0;

		VDQ_FOR(bin, count)
			bytes += vdq->bin[(first + bin) % VDQ_BINS_MAX];
		column[i & (columns - 1)] = bytes;
	}
}

/* An empty virtual queue. What it has counted stays. */
static inline void vdq_clear(struct vdq *vdq)
{
	__u32 i;

	vdq->served_ns = 0;
	vdq->served_part = 0;
	vdq->first = vdq->end = 0;
	vdq->backlog = 0;
	vdq->ctv = vdq->share = 0;
	vdq->is_empty = 1;
	vdq->is_late = 0;
	VDQ_FOR(i, VDQ_BINS_MAX)
		vdq->bin[i % VDQ_BINS_MAX] = vdq->came[i % VDQ_BINS_MAX] = 0;
}

#endif /* DUALPI2_VDQ_H */
