// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/request.h"

#include <string.h>

#include "check/report.h"
#include "cli/message.h"

bool request_has_rate(const struct request *request)
{
	return param_given(request->params, "rate")->value;
}

bool request_apply(const struct request *request, const struct aqm *aqm,
		   struct dualpi2_params *params)
{
	char why[PARAMS_WHY_MAX];

	if (request->former) {
		*params = *request->former;
		return true;
	}
	if (request->whole)
		*params = params_default(aqm);
	return params_apply(request->params, aqm, params, why) || fail_usage("%s", why);
}

void request_report(const struct request *request, const struct aqm *aqm,
		    const struct dualpi2_params *params)
{
	char text[PARAMS_SURPRISE_MAX];
	const char *said;

	for (size_t i = 0; (said = params_surprise(request->params, i, text)); i++)
		report_hint(said);
	said = params_doubt(aqm, params, text);
	if (said)
		report_line(REPORT_WARNING, "%s", said);
}

void request_take_over(const struct aqm *aqm, struct dualpi2_params *params)
{
	const struct dualpi2_params fresh = params_default(aqm);

	memcpy(params->aqm, fresh.aqm, sizeof(params->aqm));
}

bool request_will_share(const struct request *request, const struct aqm *now, bool is_mq)
{
	return (request->mq || is_mq) && (request_has_rate(request) || (now && now->variant == AQM_MQ));
}

const struct aqm *request_aqm(const struct request *request, const struct aqm *now, bool is_mq)
{
	const struct aqm *asked = request->aqm ?: now ?: aqm_default();
	const struct aqm *aqm = aqm_proper(asked);

	if (request->former)
		return asked;
	return (request_will_share(request, now, is_mq) ? aqm->variants[AQM_MQ] : NULL) ?: aqm;
}

bool request_may_share(const struct request *request, const struct aqm *now, bool is_mq,
		       const char *label)
{
	const struct aqm *aqm = request_aqm(request, now, is_mq);

	return !request_will_share(request, now, is_mq) || aqm->variant == AQM_MQ ||
	       report_obstacle(STATUS_USAGE, 0, label, "--rate: not with an mq and the AQM %s: %s",
			       aqm->name, aqm->why_not[AQM_MQ]);
}

/* Each of several queues would do so by itself. */
static bool refuse_shared(const char *option)
{
	return fail_usage("--%s: not with --rate and an mq, where it would be for each queue alone",
			  option);
}

bool request_shares(const struct request *request, const struct aqm *aqm,
		    struct dualpi2_params *params)
{
	if (aqm->variant != AQM_MQ)
		return true;
	if (param_given(request->params, "drop-dequeue")->text)
		return fail_usage("--drop-dequeue: not with --rate and an mq: a packet that waits "
				  "has its time on the link already");
	if (params->guard)
		return refuse_shared("guard");
	if (params->sparse)
		return refuse_shared("sparse");
	params->drop_enqueue = 1;
	return true;
}

bool request_fits(const struct request *request, const struct aqm *aqm)
{
	struct dualpi2_params scratch;
	char why[PARAMS_WHY_MAX];

	for (size_t i = 0; !aqm && aqm_is_listed(i); i++) {
		scratch = params_default(aqms[i]);
		if (params_apply(request->params, aqms[i], &scratch, why))
			return true;
	}
	aqm = aqm ?: aqm_default();
	scratch = params_default(aqm);
	return request_apply(request, aqm, &scratch);
}

bool request_agrees(const struct request *request, enum direction direction)
{
	if (direction == INGRESS && param_given(request->params, "rate")->text &&
	    !request_has_rate(request))
		return fail(0, "--rate 0: not with --ingress, " WITHOUT_RATE);
	return request_fits(request, request->aqm);
}
