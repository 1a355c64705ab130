// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes and peers as people write them (user/cli/prefix.c, user/cli/peer.c). */
#include "unit.h"

#include <string.h>

#include "cli/peer.h"
#include "cli/prefix.h"

static void prefixes_are_read(void **state)
{
	static const struct {
		const char *text, *shown;
		unsigned int bits;
	} accepted[] = {
		{ "10.0.0.0/8", "10.0.0.0/8", 104 },
		{ "10.1.2.3/8", "10.0.0.0/8", 104 },
		{ "192.0.2.1", "192.0.2.1/32", 128 },
		{ "255.255.255.255/31", "255.255.255.254/31", 127 },
		{ "0.0.0.0/0", "0.0.0.0/0", 96 },
		{ "::/0", "::/0", 0 },
		{ "2001:db8::/32", "2001:db8::/32", 32 },
		{ "2001:db8:ffff::1/33", "2001:db8:8000::/33", 33 },
		{ "2001:db8::1", "2001:db8::1/128", 128 },
		{ "::ffff:10.0.0.0/104", "10.0.0.0/8", 104 },
		{ "::ffff:10.0.0.0/95", "::fffe:0:0/95", 95 },
	};
	char text[PREFIX_TEXT_MAX];
	struct ip_prefix prefix;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		assert_true(prefix_read(accepted[i].text, &prefix));
		assert_int_equal(prefix.bits, accepted[i].bits);
		assert_string_equal(prefix_format(&prefix, text), accepted[i].shown);
	}
}

/* As the programs make the key of a peer (bpf/peer.bpf.h). */
static void ipv4_is_mapped(void **state)
{
	static const unsigned char expected[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 };
	struct ip_prefix prefix;

	(void)state;
	assert_true(prefix_read("192.0.2.1", &prefix));
	assert_memory_equal(prefix.address, expected, sizeof(expected));
}

static void what_is_no_prefix_is_refused(void **state)
{
	static const char *const refused[] = {
		"",
		"/",
		"10.0.0.0/",
		"10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/+8",
		"10.0.0.0/ 8",
		"10.0.0.0/8x",
		"10.0.0/8",
		"10.0.0.0/8/8",
		"2001:db8::/129",
		"2001:db8:::/32",
		"host/8",
		"10.0.0.0/99999999999999999999",
		"10.0.0.0,10.1.0.0",
		"1234:1234:1234:1234:1234:1234:1234:1234:1234:1234/8",
	};
	struct ip_prefix prefix;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_false(prefix_read(refused[i], &prefix));
}

static void peers_are_split(void **state)
{
	static const struct {
		const char *text, *host, *port;
	} accepted[] = {
		{ "192.0.2.1", "192.0.2.1", NULL },
		{ "host", "host", NULL },
		{ "host:443", "host", "443" },
		{ "2001:db8::1", "2001:db8::1", NULL },
		{ "[2001:db8::1]", "2001:db8::1", NULL },
		{ "[2001:db8::1]:1", "2001:db8::1", "1" },
		{ "host:65535", "host", "65535" },
	};
	char host[PEER_HOST_MAX];
	const char *port;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		assert_true(peer_split(accepted[i].text, host, &port));
		assert_string_equal(host, accepted[i].host);
		assert_int_equal(!port, !accepted[i].port);
		if (port)
			assert_string_equal(port, accepted[i].port);
	}
}

static void what_is_no_peer_is_refused(void **state)
{
	static const char *const refused[] = {
		"",	      ":",	":443",		"host:",	  "host:0",
		"host:65536", "host:x", "host:-1",	"host: 1",	  "[",
		"[]",	      "[]:1",	"[2001:db8::1", "[2001:db8::1]1", "[2001:db8::1]:",
	};
	char host[PEER_HOST_MAX], longest[PEER_HOST_MAX + 1];
	const char *port;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_false(peer_split(refused[i], host, &port));
	memset(longest, 'a', sizeof(longest));
	longest[PEER_HOST_MAX] = '\0';
	assert_false(peer_split(longest, host, &port));
	assert_true(peer_split(longest + 1, host, &port));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_are_read),
		cmocka_unit_test(ipv4_is_mapped),
		cmocka_unit_test(what_is_no_prefix_is_refused),
		cmocka_unit_test(peers_are_split),
		cmocka_unit_test(what_is_no_peer_is_refused),
	};

	return RUN_TESTS(tests);
}
