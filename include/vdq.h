/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The virtual queues of VDQ-CSAQM (Nadas, Gombos, Fejes, Laki, "A Congestion Control Independent
 * L4S Scheduler", ANRW 2020), in integers and without side effects but on their own state, for BPF
 * and user space. bpf/aqm/vdq.bpf.h names the patents that read on it.
 *
 * A virtual queue is a FIFO of (packet value, length) that a virtual link serves, a little slower
 * than the real one, so that it grows before the real one does. A histogram has the bytes in it by
 * value. From that follows the congestion threshold value (CTV): packets with more value pass, the
 * others are marked or dropped.
 *
 * What the paper leaves open, and what is done here: a dropped packet is in the FIFO, too, but
 * takes no time on the virtual link, so the histogram shows what is offered. The CTV lets pass, of
 * a load like that in the histogram, what the virtual link carries until the next CTV and the
 * target delay after it, less what waits for it already.
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

/* From the parameters, one for each virtual queue. */
struct vdq_law {
	__u64 byte_time; /* 1 / C_v, 2^-20 ns; 0: unknown, and there is no virtual queue */
	__u64 most;	 /* C_v (T + D), bytes */
	__u32 ring;	 /* packets that the FIFO holds at most, 1..VDQ_RING_MAX */
	__u32 bins;	 /* of the histogram, 1..VDQ_BINS_MAX */
};

struct vdq_entry {
	__u32 len;    /* bytes */
	__u16 bin;    /* of its value */
	__u16 passed; /* 0: dropped, so the link does not carry it */
};

/* One virtual queue. Whoever tells it of packets holds the qdisc's lock; vdq_update() reads
 * without, and may be one packet off.
 */
struct vdq {
	__u64 served_ns;   /* the virtual link has carried all before the head since then */
	__u64 overflows;   /* packets that found the ring full, and so do not count */
	__u32 served_part; /* of that time, 2^-20 ns */
	__u32 first, end;  /* of the entries in the ring, counted without end */
	__u32 backlog;	   /* bytes that wait for the virtual link */
	__u32 bytes;	   /* in the histogram: the sum of its bins */
	__u32 ctv;	   /* packets with up to this value are marked or dropped; 0: none */
	__u32 share;	   /* that they were of what came last, 2^-32 */
	__u16 is_empty;	   /* 1: nothing waited for the virtual link at the last update */
	__u16 is_late;	   /* 1: more waited than may, so that nothing should pass */
	__u32 bin[VDQ_BINS_MAX];
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
	law.most = capacity * ((VDQ_PERIOD_NS + delay_ns) / 1000) / 1000000;
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
	__u64 time = vdq->served_part;

	if (vdq->first == vdq->end)
		return false;
	if (head.passed) {
		time += head.len * law->byte_time;
		if (vdq->served_ns + (time >> VDQ_TIME_SHIFT) > now_ns)
			return false;
		vdq->served_ns += time >> VDQ_TIME_SHIFT;
		vdq->served_part = time & ((1U << VDQ_TIME_SHIFT) - 1);
		vdq->backlog -= head.len;
	}
	vdq->bin[head.bin % VDQ_BINS_MAX] -= head.len;
	vdq->bytes -= head.len;
	vdq->first++;
	return true;
}

static inline bool vdq_is_full(const struct vdq *vdq, const struct vdq_law *law)
{
	return vdq->end - vdq->first >= law->ring;
}

/* A packet has arrived. `passed`: it was not dropped. */
static inline void vdq_tell(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns, __u32 value,
			    __u32 len, bool passed)
{
	const __u32 bin = vdq_bin(law, value) % VDQ_BINS_MAX;
	__u32 i;

	if (!law->byte_time)
		return;
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
	vdq->ring[vdq->end % VDQ_RING_MAX] = (struct vdq_entry){
		.len = len,
		.bin = bin,
		.passed = passed,
	};
	vdq->end++;
	vdq->bin[bin] += len;
	vdq->bytes += len;
	if (passed)
		vdq->backlog += len;
}

/* What has waited for the virtual link by now, bytes. */
static inline __u64 vdq_waiting(const struct vdq *vdq, const struct vdq_law *law, __u64 now_ns)
{
	const __u64 done_ns = vdq->served_ns + (vdq->backlog * law->byte_time >> VDQ_TIME_SHIFT);

	if (!law->byte_time || done_ns <= now_ns)
		return 0;
	return ((done_ns - now_ns) << VDQ_TIME_SHIFT) / law->byte_time;
}

/* The CTV for the next period, and what that means for what came last. */
static inline void vdq_update(struct vdq *vdq, const struct vdq_law *law, __u64 now_ns)
{
	const __u64 waiting = vdq_waiting(vdq, law, now_ns);
	const __u64 budget = waiting < law->most ? law->most - waiting : 0;
	const __u32 bytes = vdq->bytes;
	__u32 above = 0, i, bin, more;

	vdq->is_empty = !waiting;
	vdq->is_late = waiting > law->most;
	vdq->ctv = 0;
	vdq->share = 0;
	if (!waiting || bytes <= budget)
		return;
	VDQ_FOR(i, law->bins) {
		bin = law->bins - 1 - i;
		more = vdq->bin[bin % VDQ_BINS_MAX];
		if (above + more > budget) {
			vdq->ctv = vdq_value_below(law, bin + 1);
			vdq->share = above < bytes ? ((__u64)(bytes - above) << 32) / bytes - 1 : 0;
			return;
		}
		above += more;
	}
}

/* The histogram in columns of values of the same width, from the least value on. `columns`: a power
 * of two.
 */
static inline void vdq_columns(const struct vdq *vdq, const struct vdq_law *law, __u64 *column,
			       __u32 columns)
{
	__u32 i;

	VDQ_FOR(i, columns)
		column[i & (columns - 1)] = 0;
	VDQ_FOR(i, law->bins)
		column[(i * columns / law->bins) & (columns - 1)] += vdq->bin[i % VDQ_BINS_MAX];
}

/* An empty virtual queue, that has counted nothing. */
static inline void vdq_clear(struct vdq *vdq)
{
	__u32 i;

	vdq->served_ns = 0;
	vdq->served_part = 0;
	vdq->first = vdq->end = 0;
	vdq->backlog = vdq->bytes = 0;
	vdq->overflows = 0;
	vdq->ctv = vdq->share = 0;
	vdq->is_empty = 1;
	vdq->is_late = 0;
	VDQ_FOR(i, VDQ_BINS_MAX)
		vdq->bin[i % VDQ_BINS_MAX] = 0;
}

#endif /* DUALPI2_VDQ_H */
