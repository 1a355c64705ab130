/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that an AQM has left out (aqm.bpf.h). */
#ifndef AQM_REST_BPF_H
#define AQM_REST_BPF_H

#include "aqm.bpf.h"
#include "coupled.bpf.h"

#ifndef aqm_may_mark
static __always_inline bool aqm_may_mark(const struct instance *in, struct dualq *q)
{
	return coupled_may_mark(q);
}
#endif

#ifndef aqm_mark
static __always_inline enum mark aqm_mark(struct instance *in, struct dualq *q,
					  const struct arrival *arrival)
{
	return coupled_mark(in, q, arrival);
}
#endif

#ifndef aqm_may_drop
static __always_inline bool aqm_may_drop(struct dualq *q, bool in_l, u32 flags)
{
	return coupled_may_drop(q, in_l, flags);
}
#endif

#ifndef aqm_drop
static __always_inline enum drop aqm_drop(struct instance *in, struct dualq *q, u32 flags,
					  bool in_l, u64 sojourn_ns, u64 now)
{
	return coupled_drop(in, q, flags, in_l, sojourn_ns);
}
#endif

#ifdef aqm_note
#define AQM_HAS_NOTES true
#else
#define AQM_HAS_NOTES false
static __always_inline u32 aqm_note(struct __sk_buff *ctx, struct instance *in, struct dualq *q,
				    const struct arrival *arrival)
{
	return 0;
}
#endif

#ifndef aqm_arrives
static __always_inline void aqm_arrives(struct instance *in, struct dualq *q,
					struct packet_info *info, u32 note, bool in_l, u64 now)
{
}
#endif

#ifndef aqm_left
static __always_inline void aqm_left(struct instance *in, struct dualq *q,
				     const struct packet_info *info, bool in_l, u64 sojourn_ns,
				     u64 now)
{
}
#endif

/* No functions: with them clang made longer code of serve(), for every AQM. */
#ifndef aqm_schedules
#define aqm_schedules(in) false
#define aqm_serves_l(in, q, now) false
#endif

#ifndef aqm_relaw
static __always_inline void aqm_relaw(struct instance *in, struct dualq *q)
{
	coupled_relaw(in, q);
}
#endif

#ifndef aqm_c_delay
static __always_inline u64 aqm_c_delay(const struct instance *in)
{
	return 0;
}
#endif

#ifndef aqm_start
static __always_inline void aqm_start(struct dualq *q)
{
}
#endif

struct aqm_gauges; /* nobody defines it where an AQM has none */

#ifndef aqm_gauges
static __always_inline void aqm_gauges(struct instance *in, struct dualq *q,
				       struct aqm_gauges *gauges, struct dualpi2_levels *levels)
{
}
#endif

#endif /* AQM_REST_BPF_H */
