// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The records of the ring buffer of events, as text and as JSON: the input is, after a byte
 * of switches, one record after the other, each behind its length. No ring buffer is opened:
 * the functions of libbpf that would are here.
 */
#include "fuzz.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#include "show/show.h"
#include "cli/message.h"
#include "pinned/registration.h"

static const uint8_t *records, *records_end;
static ring_buffer_sample_fn on_record;
static void *on_record_data;
static bool is_first;

struct ring_buffer *ring_buffer__new(int map, ring_buffer_sample_fn callback, void *data,
				     const struct ring_buffer_opts *options)
{
	(void)map;
	(void)options;
	on_record = callback;
	on_record_data = data;
	return (struct ring_buffer *)&on_record;
}

/* A file that can always be read. */
int ring_buffer__epoll_fd(const struct ring_buffer *ring)
{
	static int always = -1;

	(void)ring;
	if (always < 0)
		always = open("/dev/null", O_RDONLY);
	ALWAYS(always >= 0);
	return always;
}

/* As the real one: the records that are there, which at first are none that count; an error when
 * there are no more.
 */
int ring_buffer__consume(struct ring_buffer *ring)
{
	(void)ring;
	if (is_first) {
		is_first = false;
		return 0;
	}
	if (records == records_end)
		return -EBADF;
	while (records < records_end) {
		size_t len = *records++;
		uint8_t *record;

		if (len > (size_t)(records_end - records))
			len = records_end - records;
		record = malloc(len);
		ALWAYS(record || !len);
		memcpy(record, records, len);
		records += len;
		on_record(on_record_data, record, len);
		free(record);
	}
	return 1;
}

void ring_buffer__free(struct ring_buffer *ring)
{
	(void)ring;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct registrations regs = { .count = 1 }; /* events: fd 0, which nobody reads */

	if (!size)
		return 0;
	message_init("fuzz");
	is_first = true;
	records = data + 1;
	records_end = data + size;
	events_follow(&regs, data[0] & 2 ? 1 : 0, data[0] & 1);
	return 0;
}
