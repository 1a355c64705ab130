// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The histogram of include/histogram.h: its buckets, and quantiles read back. */
#include "unit.h"

#include "histogram.h"

#define USEC 1000ULL
#define MSEC 1000000ULL
#define SEC 1000000000ULL

static void record(struct dualpi2_histogram *h, __u64 ns)
{
	static __u32 octave; /* left by any other value */

	histogram_record(h, ns, &octave);
}

static void log2_of_all_powers(void **state)
{
	(void)state;
	for (__u32 log = 0; log < 32; log++) {
		assert_int_equal(histogram_log2(1U << log), log);
		assert_int_equal(histogram_log2((1U << log) | ((1U << log) - 1)), log);
	}
}

/* 128 ns, then eighths of 1.024, 2.048, ... us. */
static void edges_are_where_the_comment_says(void **state)
{
	(void)state;
	assert_int_equal(histogram_edge(0), 0);
	assert_int_equal(histogram_edge(1), 128);
	assert_int_equal(histogram_edge(8), 1024);
	assert_int_equal(histogram_edge(9), 1024 + 128);
	assert_int_equal(histogram_edge(16), 2048);
	assert_int_equal(histogram_edge(17), 2048 + 256);
	assert_int_equal(histogram_edge(HISTOGRAM_BUCKETS), 1ULL << 33);
}

/* Every bucket reaches from its edge to just below the next one. */
static void index_and_edge_are_inverse(void **state)
{
	(void)state;
	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++) {
		assert_true(histogram_edge(i) < histogram_edge(i + 1));
		assert_int_equal(histogram_index(histogram_edge(i)), i);
		assert_int_equal(histogram_index(histogram_edge(i + 1) - 1), i);
	}
}

static void middle_is_near_both_edges(void **state)
{
	(void)state;
	for (__u32 i = 0; i < HISTOGRAM_BUCKETS; i++) {
		__u64 low = histogram_edge(i), half = (histogram_edge(i + 1) - low) / 2;

		if (low < 1024)
			assert_int_equal(half, 64);
		else
			assert_true(half * 16 <= low);
	}
}

static void too_long_delays_go_to_the_last_bucket(void **state)
{
	struct dualpi2_histogram h = {};

	(void)state;
	record(&h, 1ULL << 33);
	record(&h, 20 * SEC);
	record(&h, UINT64_MAX / 2);
	assert_int_equal(h.bucket[HISTOGRAM_BUCKETS - 1], 3);
	assert_int_equal(histogram_count(&h), 3);
	assert_int_equal(h.max_ns, UINT64_MAX / 2);
	assert_true(histogram_quantile(&h, 500) >= histogram_edge(HISTOGRAM_BUCKETS - 1));
}

static void nothing_recorded(void **state)
{
	const struct dualpi2_histogram h = {};

	(void)state;
	assert_int_equal(histogram_count(&h), 0);
	assert_int_equal(histogram_quantile(&h, 990), 0);
}

static void sum_count_and_maximum_are_exact(void **state)
{
	struct dualpi2_histogram h = {};

	(void)state;
	record(&h, 300 * USEC);
	record(&h, 7 * MSEC + 1);
	record(&h, 0);
	assert_int_equal(histogram_count(&h), 3);
	assert_int_equal(h.sum_ns, 300 * USEC + 7 * MSEC + 1);
	assert_int_equal(h.max_ns, 7 * MSEC + 1);
}

/* 10 values, one a bucket: the k-th smallest is the one of rank ceil(10 * q). */
static void quantile_is_by_nearest_rank(void **state)
{
	static const struct {
		__u32 permille, rank;
	} rows[] = { { 0, 1 },	 { 1, 1 },   { 100, 1 },  { 101, 2 },  { 500, 5 },
		     { 501, 6 }, { 900, 9 }, { 901, 10 }, { 999, 10 }, { 1000, 10 } };
	struct dualpi2_histogram h = {};

	(void)state;
	for (__u64 k = 1; k <= 10; k++)
		record(&h, k << 11);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u64 ns = histogram_quantile(&h, rows[i].permille);

		assert_int_equal(histogram_index(ns), histogram_index((__u64)rows[i].rank << 11));
	}
}

/* P99.9 leaves one in a thousand above it, and not two in 1001. */
static void one_slow_packet_in_a_thousand(void **state)
{
	const __u32 fast = histogram_index(100 * USEC), slow = histogram_index(50 * MSEC);
	struct dualpi2_histogram h = {};

	(void)state;
	for (int i = 0; i < 999; i++)
		record(&h, 100 * USEC);
	record(&h, 50 * MSEC);
	assert_int_equal(histogram_index(histogram_quantile(&h, 999)), fast);
	assert_int_equal(histogram_index(histogram_quantile(&h, 1000)), slow);
	record(&h, 50 * MSEC);
	assert_int_equal(histogram_index(histogram_quantile(&h, 999)), slow);
}

static void quantile_is_never_above_the_maximum(void **state)
{
	struct dualpi2_histogram h = {};

	(void)state;
	record(&h, 1024); /* the bucket's middle is 1088 */
	assert_int_equal(histogram_quantile(&h, 500), 1024);
	assert_int_equal(histogram_quantile(&h, 1000), 1024);
}

static void large_counts_do_not_overflow(void **state)
{
	struct dualpi2_histogram h = { .max_ns = 1 * MSEC };

	(void)state;
	h.bucket[histogram_index(10 * USEC)] = 1ULL << 62;
	h.bucket[histogram_index(100 * USEC)] = 1ULL << 62;
	assert_int_equal(histogram_index(histogram_quantile(&h, 500)), histogram_index(10 * USEC));
	assert_int_equal(histogram_index(histogram_quantile(&h, 501)), histogram_index(100 * USEC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log2_of_all_powers),
		cmocka_unit_test(edges_are_where_the_comment_says),
		cmocka_unit_test(index_and_edge_are_inverse),
		cmocka_unit_test(middle_is_near_both_edges),
		cmocka_unit_test(too_long_delays_go_to_the_last_bucket),
		cmocka_unit_test(nothing_recorded),
		cmocka_unit_test(sum_count_and_maximum_are_exact),
		cmocka_unit_test(quantile_is_by_nearest_rank),
		cmocka_unit_test(one_slow_packet_in_a_thousand),
		cmocka_unit_test(quantile_is_never_above_the_maximum),
		cmocka_unit_test(large_counts_do_not_overflow),
	};

	return RUN_TESTS(tests);
}
