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
	return (request->mq || is_mq) &&
	       (request_has_rate(request) || (now && now->variant == AQM_MQ));
}

static bool ends_hosts(const struct request *request)
{
	const struct option_given *const given = param_given(request->params, "per-host");

	return given->text && given->value == DUALPI2_HOSTS_OFF;
}

/* Will each subscriber have a DualQ? --per-host only says by which address then. */
static bool will_have_subscribers(const struct request *request, const struct aqm *now)
{
	if (request->subscribers || request->whole || ends_hosts(request))
		return request->subscribers;
	return now && now->variant == AQM_SUBSCRIBERS;
}

/* Will each host have one? */
static bool will_part_hosts(const struct request *request, const struct aqm *now)
{
	if (will_have_subscribers(request, now))
		return false;
	if (param_given(request->params, "per-host")->text)
		return !ends_hosts(request);
	return !request->whole && now && now->variant == AQM_HOSTS;
}

/* The AQM that is asked for, in whatever variant. */
static const struct aqm *asked(const struct request *request, const struct aqm *now)
{
	return request->aqm ?: now ?: aqm_default();
}

const struct aqm *request_aqm(const struct request *request, const struct aqm *now, bool is_mq)
{
	const struct aqm *aqm = aqm_proper(asked(request, now)), *variant = NULL;

	if (request->former)
		return asked(request, now);
	if (request_will_share(request, now, is_mq))
		variant = aqm->variants[AQM_MQ];
	else if (will_have_subscribers(request, now))
		variant = aqm->variants[AQM_SUBSCRIBERS];
	else if (will_part_hosts(request, now))
		variant = aqm->variants[AQM_HOSTS];
	return variant ?: aqm;
}

static bool may_share(const struct request *request, const struct aqm *now, bool is_mq,
		      const char *label)
{
	const struct aqm *aqm = aqm_proper(asked(request, now));

	return !request_will_share(request, now, is_mq) || aqm->variants[AQM_MQ] ||
	       report_obstacle(STATUS_USAGE, 0, label, "--rate: not with an mq and the AQM %s: %s",
			       aqm->name, aqm->why_not[AQM_MQ]);
}

static bool may_part_hosts(const struct request *request, const struct aqm *now, bool is_mq,
			   const char *label)
{
	const struct aqm *aqm = aqm_proper(asked(request, now));
	const bool is_asked_for = param_given(request->params, "per-host")->text;

	if (!will_part_hosts(request, now))
		return true;
	if (is_asked_for && (request->mq || is_mq))
		return report_obstacle(STATUS_USAGE, 0, label,
				       "--per-host: not with an mq: the packets of a host are "
				       "spread over its queues, so it would have a share in each");
	return aqm->variants[AQM_HOSTS] ||
	       report_obstacle(STATUS_USAGE, 0, label, "--per-host: not with the AQM %s: %s%s",
			       aqm->name, aqm->why_not[AQM_HOSTS],
			       is_asked_for ? "" : "; --per-host off ends it");
}

/* Of the options for hosts only the side says something of subscribers. */
static bool may_have_subscribers(const struct request *request, const struct aqm *now, bool is_mq,
				 const char *label)
{
	static const char *const others[] = { "hosts", "host-prefix" };
	const struct aqm *aqm = aqm_proper(asked(request, now));

	if (!will_have_subscribers(request, now))
		return true;
	if (request->subscribers && (request->mq || is_mq))
		return report_obstacle(STATUS_USAGE, 0, label,
				       "--subscribers: not with an mq: the packets of a subscriber "
				       "are spread over its queues, so it would have a plan in "
				       "each");
	if (ends_hosts(request))
		return report_obstacle(STATUS_USAGE, 0, label,
				       "--per-host off: not with --subscribers: where their "
				       "addresses are it can only say by dst, src or auto");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (param_given(request->params, others[i])->text)
			return report_obstacle(STATUS_USAGE, 0, label,
					       "--%s: not with subscribers: the file says who has "
					       "queues of its own",
					       others[i]);
	}
	return aqm->variants[AQM_SUBSCRIBERS] ||
	       report_obstacle(STATUS_USAGE, 0, label, "--subscribers: not with the AQM %s: %s%s",
			       aqm->name, aqm->why_not[AQM_SUBSCRIBERS],
			       request->subscribers ? "" : "; --per-host off ends it");
}

bool request_has_variant(const struct request *request, const struct aqm *now, bool is_mq,
			 const char *label)
{
	return may_share(request, now, is_mq, label) &&
	       may_part_hosts(request, now, is_mq, label) &&
	       may_have_subscribers(request, now, is_mq, label);
}

/* Flows are judged by the rate of one link. */
static bool judges_none(const struct dualpi2_params *params, const char *where)
{
	const char *option = params->guard ? "guard" : params->sparse ? "sparse" : NULL;

	return !option || fail_usage("--%s: not with %s", option, where);
}

bool request_suits(const struct request *request, const struct aqm *aqm,
		   struct dualpi2_params *params)
{
	if (aqm->variant == AQM_SUBSCRIBERS)
		return judges_none(params, "subscribers: it would judge by the rate of the link, "
					   "not by their plans");
	if (aqm->variant != AQM_MQ)
		return true;
	if (param_given(request->params, "drop-dequeue")->text)
		return fail_usage("--drop-dequeue: not with --rate and an mq: a packet that waits "
				  "has its time on the link already");
	params->drop_enqueue = 1;
	return judges_none(params, "--rate and an mq, where it would be for each queue alone");
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
