// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The inline functions of include/ under names that a shared library can export,
 * for test_model.py. Nothing is computed here.
 */
#include <stdbool.h>

#include "classic_ecn.h"
#include "codel.h"
#include "coupling.h"
#include "curvy_red.h"
#include "dualpi2.h"
#include "laqm.h"
#include "aqm/pi2.h"
#include "cli/value.h"
#include "packet_value.h"
#include "pi2.h"
#include "prague.h"
#include "prague_network.h"
#include "scheduler.h"
#include "shaper.h"
#include "vdq.h"

/* For test_model.py to hold its own layouts against. */
extern const __u32 shim_sizeof_params, shim_sizeof_law, shim_sizeof_coupling;
extern const __u32 shim_sizeof_codel, shim_sizeof_codel_law, shim_sizeof_curvy_red_law;
extern const __u32 shim_sizeof_prague, shim_sizeof_classic_ecn;
extern const __u32 shim_sizeof_vdq, shim_sizeof_vdq_law, shim_sizeof_value_flow,
	shim_sizeof_value_policy;
/* And to make one of: "TYPE MEMBER" on a line each. */
#define FIELD(type, member, ...) #type " " #member "\n"
extern const char *const shim_params;
const char *const shim_params =
	DUALPI2_PARAMS(FIELD, FIELD, DUALPI2_NOTHING) AQM_PARAMS(FIELD, FIELD, DUALPI2_NOTHING);

const __u32 shim_sizeof_params = sizeof(struct dualpi2_params);
const __u32 shim_sizeof_law = sizeof(struct pi2_law);
const __u32 shim_sizeof_coupling = sizeof(struct coupling);
const __u32 shim_sizeof_codel = sizeof(struct codel);
const __u32 shim_sizeof_codel_law = sizeof(struct codel_law);
const __u32 shim_sizeof_curvy_red_law = sizeof(struct curvy_red_law);
const __u32 shim_sizeof_prague = sizeof(struct prague);
const __u32 shim_sizeof_classic_ecn = sizeof(struct classic_ecn);
const __u32 shim_sizeof_vdq = sizeof(struct vdq);
const __u32 shim_sizeof_vdq_law = sizeof(struct vdq_law);
const __u32 shim_sizeof_value_flow = sizeof(struct value_flow);
const __u32 shim_sizeof_value_policy = sizeof(struct value_policy);

/* SHIM(result, function, (parameters), (arguments)): shim_function() */
#define SHIM(result, function, parameters, arguments) \
	result shim_##function parameters;            \
	result shim_##function parameters             \
	{                                             \
		return function arguments;            \
	}

SHIM(__u32, pi2_scale_gain, (__u32 hz256), (hz256))
SHIM(__u32, pi2_next_prob,
     (const struct pi2_law *law, __u32 prob, __u32 prob_max, __u64 delay_ns, __u64 last_delay_ns),
     (law, prob, prob_max, delay_ns, last_delay_ns))

SHIM(struct coupling, coupling_make, (__u8 k, __u32 p_cmax, bool overflow), (k, p_cmax, overflow))
SHIM(__u64, coupling_p_cl, (__u32 prob, __u8 k), (prob, k))
SHIM(__u32, coupling_p_c, (__u32 prob), (prob))
SHIM(__u32, coupling_classic_of, (__u64 p_l, __u8 k), (p_l, k))
SHIM(bool, coupling_c_overloaded, (const struct coupling *coupling, __u32 prob), (coupling, prob))
SHIM(bool, coupling_l_overloaded, (const struct coupling *coupling, __u32 prob), (coupling, prob))
SHIM(bool, coupling_saturated, (const struct coupling *coupling, __u32 prob), (coupling, prob))
SHIM(bool, coupling_recurs, (__u64 count, __u64 prob), (count, prob))

SHIM(__u32, codel_inv_sqrt, (__u32 count), (count))
SHIM(__u32, codel_newton, (__u32 inv_sqrt, __u32 count), (inv_sqrt, count))
SHIM(__u32, codel_sqrt, (__u32 share), (share))
SHIM(struct codel_law, codel_make, (__u64 target_ns, __u64 interval_ns, __u8 kind, __u8 steps),
     (target_ns, interval_ns, kind, steps))
SHIM(bool, codel_signals,
     (struct codel * codel, const struct codel_law *law, __u64 now_ns, __u64 sojourn_ns, __u32 how),
     (codel, law, now_ns, sojourn_ns, how))
SHIM(__u32, codel_weight, (__u64 period_ns, __u64 interval_ns), (period_ns, interval_ns))
SHIM(__u32, codel_share, (struct codel * codel, __u32 weight), (codel, weight))

SHIM(struct curvy_red_law, curvy_red_make,
     (__u64 min_th_ns, __u64 range_ns, __u8 smoothing, __u8 curviness),
     (min_th_ns, range_ns, smoothing, curviness))
SHIM(__u64, curvy_red_smooth, (const struct curvy_red_law *law, __u64 q_ns, __u64 delay_ns),
     (law, q_ns, delay_ns))
SHIM(__u32, curvy_red_prob, (const struct curvy_red_law *law, __u64 delay_ns), (law, delay_ns))

SHIM(__u32, prague_virtual_rtt, (const struct prague *p, __u32 srtt_us), (p, srtt_us))
SHIM(bool, prague_is_slow, (const struct prague *p, __u32 srtt_us), (p, srtt_us))
SHIM(__u64, prague_gain, (const struct prague *p, __u32 srtt_us), (p, srtt_us))
SHIM(__u64, prague_window_min, (__u32 srtt_us, __u32 mtu), (srtt_us, mtu))
SHIM(void, prague_set_window, (struct prague * p, __u64 window), (p, window))
SHIM(void, prague_increase, (struct prague * p, __u32 acked, __u64 gain, __u32 mtu),
     (p, acked, gain, mtu))
SHIM(void, prague_ce, (struct prague * p, __u32 ce, __u64 now_us, __u32 srtt_us, __u64 min),
     (p, ce, now_us, srtt_us, min))
SHIM(void, prague_ce_reno, (struct prague * p, __u64 now_us, __u32 srtt_us, __u64 min),
     (p, now_us, srtt_us, min))
SHIM(void, prague_loss, (struct prague * p), (p))
SHIM(void, prague_undo, (struct prague * p), (p))
SHIM(void, prague_idle, (struct prague * p, __u64 idle_us, __u64 rto_us, __u32 restart),
     (p, idle_us, rto_us, restart))
SHIM(void, prague_network_v6, (const __u32 address[4], struct prague_destination *to),
     (address, to))
SHIM(void, prague_bound, (struct prague * p, __u32 clamp), (p, clamp))
SHIM(__u32, prague_cwnd, (const struct prague *p, __u32 cwnd, __u32 clamp), (p, cwnd, clamp))
SHIM(void, prague_round,
     (struct prague * p, __u64 now_us, __u32 delivered, __u32 delivered_ce, bool slow_start),
     (p, now_us, delivered, delivered_ce, slow_start))
SHIM(__u64, prague_pacing,
     (const struct prague *p, __u32 in_flight, __u32 mtu, __u32 srtt_us, __u64 now_us, bool fast),
     (p, in_flight, mtu, srtt_us, now_us, fast))

SHIM(__s32, lg, (__u64 x), (x))
SHIM(__u32, classic_ecn_shift, (__u32 window), (window))
SHIM(void, classic_ecn_sample, (struct classic_ecn * c, __u32 rtt_us, __u32 shift),
     (c, rtt_us, shift))
SHIM(void, classic_ecn_round, (struct classic_ecn * c, __u32 min_rtt_us), (c, min_rtt_us))

SHIM(struct vdq_law, vdq_make, (__u64 rate, __u32 percent, __u64 target_ns, __u32 ring, __u32 bins),
     (rate, percent, target_ns, ring, bins))
SHIM(void, vdq_tell,
     (struct vdq * vdq, const struct vdq_law *law, __u64 now_ns, __u32 value, __u32 len,
      bool passed),
     (vdq, law, now_ns, value, len, passed))
SHIM(__u64, vdq_budget, (const struct vdq_law *law, __u64 waiting), (law, waiting))
SHIM(void, vdq_update, (struct vdq * vdq, const struct vdq_law *law, __u64 now_ns),
     (vdq, law, now_ns))
SHIM(__u64, vdq_waiting, (const struct vdq *vdq, const struct vdq_law *law, __u64 now_ns),
     (vdq, law, now_ns))
SHIM(void, vdq_clear, (struct vdq * vdq), (vdq))

SHIM(__u64, value_measure, (struct value_flow * flow, __u64 now_ns, __u32 len, __u64 memory_ns),
     (flow, now_ns, len, memory_ns))
SHIM(__u64, value_spread, (struct value_flow * flow), (flow))
SHIM(__u32, value_of, (__u64 r), (r))
SHIM(__u32, value_by, (const struct value_policy *policy, __u64 r), (policy, r))
SHIM(__u64, value_rate, (__u32 value), (value))

SHIM(__u32, laqm_prob, (const struct dualpi2_params *params, __u64 delay_ns, __u64 packets),
     (params, delay_ns, packets))

SHIM(__s32, scheduler_reset, (__u8 classic_protection, __u32 frame_len),
     (classic_protection, frame_len))
SHIM(bool, scheduler_serves_l, (__s32 credit, bool l_waits, bool c_waits),
     (credit, l_waits, c_waits))
SHIM(__s32, scheduler_charge, (__s32 credit, __u8 classic_protection, bool from_l, __u32 len),
     (credit, classic_protection, from_l, len))

SHIM(__u32, shaper_wire_len,
     (const struct dualpi2_params *params, __u32 len, __u32 packets, __u32 link_header),
     (params, len, packets, link_header))
SHIM(void, shaper_wake, (struct shaper * s, __u64 now_ns), (s, now_ns))
SHIM(bool, shaper_ready, (const struct shaper *s, __u64 rate, __u64 now_ns), (s, rate, now_ns))
SHIM(void, shaper_charge, (struct shaper * s, __u64 rate, __u64 now_ns, __u32 wire_len),
     (s, rate, now_ns, wire_len))
SHIM(__u64, shaper_wait, (const struct shaper *s, __u64 rate, __u64 now_ns, __u64 ahead),
     (s, rate, now_ns, ahead))

SHIM(__u32, histogram_index, (__u64 ns), (ns))
SHIM(__u64, histogram_edge, (__u32 index), (index))
SHIM(void, histogram_record, (struct dualpi2_histogram * h, __u64 ns, __u32 *octave),
     (h, ns, octave))
SHIM(__u64, histogram_count, (const struct dualpi2_histogram *h), (h))
SHIM(__u64, histogram_quantile, (const struct dualpi2_histogram *h, __u32 permille), (h, permille))

void shim_params_default(struct dualpi2_params *params);
void shim_params_default(struct dualpi2_params *params)
{
	static const struct dualpi2_params common = DUALPI2_DEFAULT_PARAMS;
	static const struct aqm_params own = AQM_DEFAULT_PARAMS;

	*params = common;
	*(struct aqm_params *)params->aqm = own;
}

/* Any value of a kind that begins at 0. */
bool shim_value_read(int kind, const char *text, uint64_t *value);
bool shim_value_read(int kind, const char *text, uint64_t *value)
{
	const struct option_spec spec = { .kind = kind, .max = (int64_t)UINT64_MAX };

	return value_read(&spec, text, value) == VALUE_OK;
}

/* Into a text of OPTION_TEXT_MAX bytes. */
const char *shim_value_format(int kind, uint64_t value, char *text);
const char *shim_value_format(int kind, uint64_t value, char *text)
{
	return value_format(&(struct option_spec){ .kind = kind }, value, text);
}

/* The kinds that test_model.py names. */
extern const int shim_kind_number, shim_kind_rate, shim_kind_time, shim_kind_size,
	shim_kind_percent, shim_kind_gain, shim_kind_step;
const int shim_kind_number = KIND_NUMBER, shim_kind_rate = KIND_RATE, shim_kind_time = KIND_TIME,
	  shim_kind_size = KIND_SIZE, shim_kind_percent = KIND_PERCENT, shim_kind_gain = KIND_GAIN,
	  shim_kind_step = KIND_STEP;
