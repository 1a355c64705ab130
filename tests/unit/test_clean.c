// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text from outside, on its way to a terminal or into a document. */
#include "unit.h"

#include <string.h>

#include "cli/clean.h"

static void expect(const char *text, const char *wanted)
{
	char clean[CLEAN_MAX(64)];

	assert_string_equal(clean_text(text, clean, sizeof(clean)), wanted);
}

TEST(text_stays)
{
	expect("", "");
	expect("eth0", "eth0");
	expect("wlan\"0\\", "wlan\"0\\");
	expect("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	expect("\xe2\x82\xac \xf0\x9f\x90\xa7", "\xe2\x82\xac \xf0\x9f\x90\xa7");
}

TEST(control_characters_are_shown)
{
	expect("a\x1b[2Jb", "a\\x1b[2Jb");
	expect("\n\x7f", "\\x0a\\x7f");
	expect("\xc2\x9b", "\\xc2\\x9b"); /* CSI, of 8 bits */
	expect("\xc2\xa0", "\xc2\xa0");
}

TEST(bytes_that_are_no_text_are_shown)
{
	expect("a\xff", "a\\xff");
	expect("\x80", "\\x80");
	expect("\xc3", "\\xc3");	  /* cut */
	expect("\xc0\xaf", "\\xc0\\xaf"); /* '/', longer than it has to be */
	expect("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	expect("\xed\xa0\x80", "\\xed\\xa0\\x80");	    /* half of a pair of UTF-16 */
	expect("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	expect("\xe2\x28\xa1", "\\xe2(\\xa1");
}

TEST(no_two_texts_are_shown_as_one)
{
	expect("a\\x01", "a\\x5cx01");
	expect("a\\x5cx01", "a\\x5cx5cx01");
	expect("\\\x01", "\\\\x01");
}

TEST(it_is_cut_between_characters)
{
	char clean[6];

	assert_string_equal(clean_text("abc\x01", clean, sizeof(clean)), "abc");
	assert_string_equal(clean_text("abcd\xc3\xbc", clean, sizeof(clean)), "abcd");
}
