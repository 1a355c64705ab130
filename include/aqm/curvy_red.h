/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Curvy RED (RFC 9332, Appendix B), as all that is not its own code sees it. */
#ifndef DUALPI2_AQM_CURVY_RED_H
#define DUALPI2_AQM_CURVY_RED_H

#include "dualpi2.h"
#include "../curvy_red.h"

#define AQM_NAME "curvy-red"
#define AQM_KIND "bpf_dualq_curvy"
#define AQM_NOT_SHARED "it decides by the delay of each packet that leaves one queue"
#define AQM_HOSTS_KIND "bpf_curvy_h"
#define AQM_ABOUT "Curvy RED of RFC 9332, Appendix B"

/* coupled_delay: enum curvy_red_delay. range_ns: delay above min_th_ns at which p' is 1, ns:
 * range_C, 500 ms is S_C = -1. min_th_ns: delay up to which p' is 0, ns: minTh. smoothing: g_C, Q_C
 * is an EWMA with a gain of 2^-g_C. curviness: U. time_shift_ns: by how much longer a packet in C
 * may have waited than one in L before it is served first (RFC 9332, 4.2.2), ns; 0: the credit
 * decides. Defaults: RFC 9332, B.1, but for minTh and the time shift (docs/aqm.md).
 */
#define AQM_PARAMS(PARAM, CHOICE, FLAG)                                                         \
	PARAM(__u64, range_ns, "range", TIME, DUALPI2_NSEC_PER_MSEC, DUALPI2_TIME_MAX,          \
	      500 * DUALPI2_NSEC_PER_MSEC, "range",                                             \
	      "delay above --min-th at which every Classic packet is dropped or marked")        \
	PARAM(__u64, min_th_ns, "min-th", TIME, 0, DUALPI2_TIME_MAX, 5 * DUALPI2_NSEC_PER_MSEC, \
	      "min-th", "delay of the Classic queue up to which it drops and marks none")       \
	PARAM(__u32, smoothing, "smoothing", NUMBER, 0, 16, 5, "smoothing",                     \
	      "the Classic delay is smoothed with a gain of 1/2^N")                             \
	PARAM(__u32, curviness, "curviness", NUMBER, 1, CURVY_RED_U_MAX, 1, "curviness",        \
	      "p' is the N-th power of the Classic delay, as a share of the range")             \
	PARAM(__u64, time_shift_ns, "time-shift", TIME, 0, DUALPI2_TIME_MAX, 0, "time-shift",   \
	      "schedule by a time-shifted FIFO (50ms in the RFC): Classic packets that have "   \
	      "waited so much longer than L4S ones leave first; 0: weighted round robin")       \
	CHOICE(__u32, coupled_delay, "coupled-delay", "smoothed|instant", CURVY_RED_SMOOTHED,   \
	       "coupled-delay", "the Classic delay that L4S packets are marked by")

/* Options that stand for others: PRESET(option, label, the others in words, help). The DualQ of
 * 2015: strict priority, a step of 5 packets (its T is in bytes), no minTh, f = g_C, k = S_L - S_C
 * as a power of 2. Its range is not published: 125 ms, 2^-3 s, is the power of two with which 1 %
 * of drops goes with the 6.6 Mbit/s of Cubic at 7 ms that it showed.
 */
#define AQM_PRESETS(PRESET)                                                                    \
	PRESET("dualq-2015", "historical",                                                     \
	       "classic-protection 0 time-shift 0us step-thresh 5p range 125ms "               \
	       "min-th 0us smoothing 5 curviness 1 coupled-delay instant",                     \
	       "the DualQ as it was shown in 2015: strict priority for the L4S "               \
	       "queue, a step of 5 packets, Classic drops from 0 to 125 ms, and the delay of " \
	       "the queue's head for the coupling")

/* The law works with each Classic packet; this looks whether the queues are empty. */
#define AQM_PERIOD(own) (16 * DUALPI2_NSEC_PER_MSEC)

/* q_c_ns: Q_C, ns. */
#define AQM_GAUGES(GAUGE, COUNTER)                                                                 \
	GAUGE(__u64, q_c_ns, "microseconds", "smoothed-delay-c", "smoothed_classic_delay_seconds", \
	      "that Classic packets have waited, smoothed: Q_C")

#include "aqm.h"

#endif /* DUALPI2_AQM_CURVY_RED_H */
