// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/flow_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* By IANA's numbers. */
static const struct {
	const char *name;
	__u8 number;
	bool has_ports, has_spi;
} protocols[] = {
	{ "icmp", IPPROTO_ICMP, false, false }, { "tcp", IPPROTO_TCP, true, false },
	{ "udp", IPPROTO_UDP, true, false },	{ "dccp", IPPROTO_DCCP, true, false },
	{ "gre", IPPROTO_GRE, false, false },	{ "esp", IPPROTO_ESP, false, true },
	{ "ah", IPPROTO_AH, false, true },	{ "icmpv6", IPPROTO_ICMPV6, false, false },
	{ "sctp", IPPROTO_SCTP, true, false },	{ "udplite", IPPROTO_UDPLITE, true, false },
};

#define N_PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

/* Its row; N_PROTOCOLS: it has none. */
static size_t row_of(const struct flow_name *name)
{
	size_t i = 0;

	while (i < N_PROTOCOLS && (!name->version || protocols[i].number != name->protocol))
		i++;
	return i;
}

bool flow_name_may_have_ports(const struct flow_name *name)
{
	const size_t row = row_of(name);

	return row < N_PROTOCOLS && protocols[row].has_ports;
}

bool flow_name_may_have_spi(const struct flow_name *name)
{
	const size_t row = row_of(name);

	return row < N_PROTOCOLS && protocols[row].has_spi;
}

const char *flow_name_address(const struct flow_name *name, bool is_source, char *text)
{
	const __u8 *address = is_source ? name->source : name->target;

	if (name->version != 4 && name->version != 6)
		return NULL;
	return inet_ntop(name->version == 4 ? AF_INET : AF_INET6, address, text, FLOW_ADDRESS_MAX);
}

const char *flow_name_protocol(const struct flow_name *name, char *text)
{
	const size_t row = row_of(name);

	if (!name->version)
		return NULL;
	if (row < N_PROTOCOLS)
		return strcpy(text, protocols[row].name);
	snprintf(text, FLOW_PROTOCOL_MAX, "%u", name->protocol);
	return text;
}

/* Behind what is there, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, FLOW_NAME_TEXT_MAX - used, format, args);
	va_end(args);
}

/* "10.0.0.1:5001", "[fd00::1]:5001", "fd00::1" */
static void append_end(char *text, const struct flow_name *name, bool is_source)
{
	char address[FLOW_ADDRESS_MAX];
	const char *shown = flow_name_address(name, is_source, address) ?: "?";

	if (!(name->has & FLOW_NAME_PORTS))
		append(text, "%s", shown);
	else
		append(text, name->version == 6 ? "[%s]:%u" : "%s:%u", shown,
		       is_source ? name->source_port : name->target_port);
}

const char *flow_name_text(const struct flow_name *name, char *text)
{
	char number[FLOW_PROTOCOL_MAX];

	text[0] = '\0';
	if (!name->version) {
		append(text, "not known: no IP packet");
		return text;
	}
	append_end(text, name, true);
	append(text, " > ");
	append_end(text, name, false);
	append(text, ", %s%s", row_of(name) < N_PROTOCOLS ? "" : "protocol ",
	       flow_name_protocol(name, number));
	if (name->has & FLOW_NAME_SPI)
		append(text, ", SPI 0x%08x", name->spi);
	if (name->label)
		append(text, ", flow label 0x%05x", name->label);
	if (name->tunnels)
		append(text, ", in %u tunnel%s", name->tunnels, name->tunnels == 1 ? "" : "s");
	if (flow_name_may_have_ports(name) && !(name->has & FLOW_NAME_PORTS))
		append(text, ", ports not known");
	if (flow_name_may_have_spi(name) && !(name->has & FLOW_NAME_SPI))
		append(text, ", SPI not known");
	if (name->has & FLOW_NAME_FRAGMENT)
		append(text, " (a fragment)");
	return text;
}
