// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "cli/message.h"
#include "pinned/pins.h"
#include "prague/at_work.h"
#include "prague/commands.h"
#include "prague/default.h"
#include "prague/opt_in.h"
#include "prague/programs.h"
#include "show/json.h"

#define PEER_MAX (INET6_ADDRSTRLEN + 8)

static const struct {
	const char *key;  /* in JSON and metrics */
	const char *text; /* for people */
} modes[] = {
	[PRAGUE_PENDING] = { "pending", "nothing has been acknowledged yet" },
	[PRAGUE_SCALABLE] = { "prague", "Prague" },
	[PRAGUE_NOT_ECT1] = { "not-ect1", "Reno: its packets leave by a device without our tcx "
					  "program (`tcp-prague on --dev`)" },
	[PRAGUE_CLASSIC_AQM] = { "classic-aqm", "Reno, with ECT(1): a Classic ECN queue marks" },
	[PRAGUE_NO_ACCECN] = { "no-accecn", "Cubic: the peer or the path has no Accurate ECN" },
	[PRAGUE_REMEMBERED] = { "remembered",
				"Cubic: a Classic ECN queue was seen on the way, repeatedly" },
	[PRAGUE_RETIRED] = { "retired", "Cubic: tcp-prague off" },
	[PRAGUE_LEFT] = { "left", "the application chose another congestion control" },
};

#define LOCKED "Reno: the route allows no other congestion control (`congctl lock`)"

static const char *mode_key(const struct prague_report *socket)
{
	return socket->mode < N_PRAGUE_MODES ? modes[socket->mode].key : "unknown";
}

static const char *mode_text(const struct prague_report *socket)
{
	if (socket->is_locked)
		return LOCKED;
	return socket->mode < N_PRAGUE_MODES ? modes[socket->mode].text : "unknown";
}

static const char *accecn_text(const struct prague_report *socket)
{
	if (socket->accecn)
		return "accurate";
	return socket->rfc3168 ? "classic" : "none";
}

/* "192.0.2.1:443", "[2001:db8::1]:443" */
static const char *peer_text(const struct prague_report *socket, char text[PEER_MAX])
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(socket->family, socket->destination, address, sizeof(address));
	snprintf(text, PEER_MAX, socket->family == AF_INET6 ? "[%s]:%u" : "%s:%u", address,
		 socket->destination_port);
	return text;
}

static double share(uint32_t part)
{
	return part / 4294967296.0;
}

static double ce_share(const struct prague_report *socket)
{
	return socket->delivered ? (double)socket->delivered_ce / socket->delivered : 0;
}

static double window(const struct prague_report *socket)
{
	return (double)socket->window / PRAGUE_PACKET;
}

/* ---- destinations with a Classic AQM --------------------------------------------------- */

struct destination {
	char prefix[INET6_ADDRSTRLEN + 4];
	uint32_t times;
	uint64_t age_s;
};

static void read_destination(const struct prague_destination *key,
			     const struct prague_sighting *seen, struct destination *to)
{
	const uint32_t words[4] = { key->prefix[0], key->prefix[1], 0, 0 };
	char address[INET6_ADDRSTRLEN] = "?";
	struct timespec now;

	inet_ntop(key->v6 ? AF_INET6 : AF_INET, words, address, sizeof(address));
	snprintf(to->prefix, sizeof(to->prefix), "%s/%d", address, key->v6 ? 48 : 24);
	clock_gettime(CLOCK_BOOTTIME, &now);
	to->times = seen->times;
	to->age_s = (uint64_t)now.tv_sec - seen->seen_s;
}

struct destinations {
	void (*visit)(const struct destination *to, void *data);
	void *data;
};

/* Visit the destinations in a map that are still remembered. */
static void each_in(int map, void *data)
{
	const struct destinations *destinations = data;
	struct prague_destination key, *previous = NULL;
	struct prague_sighting seen;
	struct destination to;

	for (int i = 0; i < PRAGUE_DESTINATIONS; i++) {
		if (bpf_map_get_next_key(map, previous, &key))
			return;
		previous = &key;
		if (bpf_map_lookup_elem(map, &key, &seen))
			continue;
		read_destination(&key, &seen, &to);
		if (to.age_s < PRAGUE_REMEMBERED_S)
			destinations->visit(&to, destinations->data);
	}
}

/* ---- of all Pragues, or of that which is pinned ---------------------------------------- */

#define MAPS "the BPF maps of this host"

/* As at_work_each_socket() and at_work_each_classic(). Who may not look among all maps of the host
 * sees just those that are pinned.
 */
static int each_socket(const struct programs *pinned,
		       void (*visit)(const struct prague_report *socket, void *data), void *data)
{
	int count = at_work_each_socket(pinned, visit, data);

	if (count != -EPERM)
		return expect_known(count, MAPS);
	if (pinned->status < 0)
		return count;
	programs_each_socket(pinned, visit, data);
	return 1;
}

static void each_destination(const struct programs *pinned,
			     void (*visit)(const struct destination *to, void *data), void *data)
{
	struct destinations destinations = { visit, data };
	int count = at_work_each_classic(each_in, &destinations);

	if (count != -EPERM)
		expect_known(count, MAPS);
	else if (pinned->classic >= 0)
		each_in(pinned->classic, &destinations);
}

/* ---- for people ------------------------------------------------------------------------ */

static void print_socket(const struct prague_report *socket, void *data)
{
	char peer[PEER_MAX];
	int *count = data;

	if (!(*count)++)
		printf("%-28s %8s %8s %10s %7s %7s %-8s  %s\n", "peer", "srtt ms", "window",
		       "pacing", "alpha", "CE", "ECN", "responds as");
	printf("%-28s %8.2f %8.2f %6.2fmbit %6.2f%% %6.2f%% %-8s  %s\n", peer_text(socket, peer),
	       socket->srtt_us / 1000.0, window(socket), (double)socket->pacing_rate * 8 / 1e6,
	       share(socket->alpha) * 100, ce_share(socket) * 100, accecn_text(socket),
	       mode_text(socket));
}

static void print_destination(const struct destination *to, void *data)
{
	(void)data;
	printf("Classic ECN queue on the way to %s: seen %u time%s, %" PRIu64 " min ago%s\n",
	       to->prefix, to->times, to->times == 1 ? "" : "s", to->age_s / 60,
	       to->times > 1 ? ": new connections use Cubic" : "");
}

static void print_why_none(const struct programs *pinned, int at_work)
{
	const bool is_on = pin_exists(OPT_IN_PINS, "") > 0 || pin_exists(DEFAULT_PINS, "") > 0;

	if (at_work > 0 || pinned->status >= 0)
		printf("no socket uses Prague\n");
	else if (is_on && prague_is_kernels() > 0)
		printf("the kernel's own prague is used: `ss -ti` shows its sockets\n");
	else if (at_work < 0)
		printf("tcp-prague is not on; only root can see whether a `tcp-prague run` is at "
		       "work\n");
	else
		printf("tcp-prague is not on, and no `tcp-prague run` is at work\n");
}

static bool show_table(const struct programs *pinned)
{
	int count = 0, at_work = each_socket(pinned, print_socket, &count);

	if (!count && !message_reported())
		print_why_none(pinned, at_work);
	each_destination(pinned, print_destination, NULL);
	return !message_reported();
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void add_socket(const struct prague_report *socket, void *data)
{
	struct json_object *sockets = data, *one = json_object_new_object();
	char peer[PEER_MAX];

	json_add_text(one, "peer", peer_text(socket, peer));
	json_add_uint(one, "source-port", socket->source_port);
	json_add_uint(one, "netns", socket->netns);
	json_add_text(one, "mode", mode_key(socket));
	json_add_text(one, "reason", mode_text(socket));
	json_add_text(one, "ecn", accecn_text(socket));
	json_add_decimal(one, "srtt", "%.6f", socket->srtt_us / 1e6);
	json_add_decimal(one, "window", "%.4f", window(socket));
	json_add_uint(one, "cwnd", socket->cwnd);
	json_add_uint(one, "pacing-rate", socket->pacing_rate * 8);
	json_add_decimal(one, "alpha", "%.6f", share(socket->alpha));
	json_add_uint(one, "delivered", socket->delivered);
	json_add_uint(one, "delivered-ce", socket->delivered_ce);
	json_add_decimal(one, "classic-score", "%.3f",
			 socket->classic_score / (double)CLASSIC_ECN_POINT);
	json_object_array_add(sockets, one);
}

static void add_destination(const struct destination *to, void *data)
{
	struct json_object *destinations = data, *one = json_object_new_object();

	json_add_text(one, "prefix", to->prefix);
	json_add_uint(one, "times", to->times);
	json_add_uint(one, "age", to->age_s);
	json_object_array_add(destinations, one);
}

static bool show_json(const struct programs *pinned)
{
	struct json_object *all = json_object_new_object();
	struct json_object *sockets = json_object_new_array();
	struct json_object *destinations = json_object_new_array();

	json_add(all, "sockets", sockets);
	json_add(all, "classic-destinations", destinations);
	each_socket(pinned, add_socket, sockets);
	each_destination(pinned, add_destination, destinations);
	if (message_reported())
		json_object_put(all);
	else
		json_put_line(stdout, all);
	return !message_reported();
}

/* ---- OpenMetrics --------------------------------------------------------------------------- */

/* Sums: a host has more sockets than a time series database wants. */
struct sums {
	uint64_t sockets[N_PRAGUE_MODES];
	uint64_t delivered, delivered_ce; /* of the sockets that live */
	double alpha;			  /* sum over Prague's */
};

static void sum_socket(const struct prague_report *socket, void *data)
{
	struct sums *sums = data;

	if (socket->mode >= N_PRAGUE_MODES)
		return;
	sums->sockets[socket->mode]++;
	sums->delivered += socket->delivered;
	sums->delivered_ce += socket->delivered_ce;
	if (socket->mode == PRAGUE_SCALABLE)
		sums->alpha += share(socket->alpha);
}

static void count_destination(const struct destination *to, void *data)
{
	(void)to;
	++*(uint64_t *)data;
}

static void print_gauge(const char *name, const char *help)
{
	printf("# TYPE tcp_prague_%s gauge\n# HELP tcp_prague_%s %s\n", name, name, help);
}

static bool show_openmetrics(const struct programs *pinned)
{
	struct sums sums = {};
	uint64_t destinations = 0, prague;

	each_socket(pinned, sum_socket, &sums);
	each_destination(pinned, count_destination, &destinations);
	if (message_reported())
		return false;
	print_gauge("sockets", "Sockets that use or used Prague, by how they respond.");
	for (int i = 0; i < N_PRAGUE_MODES; i++)
		printf("tcp_prague_sockets{mode=\"%s\"} %" PRIu64 "\n", modes[i].key,
		       sums.sockets[i]);
	prague = sums.sockets[PRAGUE_SCALABLE];
	print_gauge("alpha", "Mean smoothed share of CE of the sockets that respond as Prague.");
	if (prague)
		printf("tcp_prague_alpha %.6f\n", sums.alpha / (double)prague);
	print_gauge("ce_share", "Share of CE in what the sockets that live have delivered.");
	if (sums.delivered)
		printf("tcp_prague_ce_share %.6f\n",
		       (double)sums.delivered_ce / (double)sums.delivered);
	print_gauge("classic_destinations",
		    "Networks on the way to which a Classic ECN queue was seen.");
	printf("tcp_prague_classic_destinations %" PRIu64 "\n# EOF\n", destinations);
	return true;
}

/* Nothing at work is an answer for programs, and a hint for people. */
bool prague_show(enum status_format format)
{
	struct programs pinned = PROGRAMS_NONE;
	int found = pins_look();

	if (found > 0)
		found = programs_open(&pinned);
	if (found < 0)
		return false;
	if (format == STATUS_JSON)
		return show_json(&pinned);
	if (format == STATUS_OPENMETRICS)
		return show_openmetrics(&pinned);
	return show_table(&pinned);
}
