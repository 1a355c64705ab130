// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A histogram as it stands in a map: its quantiles grow with the share and are never above the
 * highest value; and one that delays were recorded in (eight bytes each, behind it).
 */
#include "fuzz.h"

#include "dualpi2.h"
#include "histogram.h"

static void check_quantiles(const struct dualpi2_histogram *histogram)
{
	uint64_t last = 0;

	for (unsigned int permille = 0; permille <= 1000; permille += 50) {
		uint64_t value = histogram_quantile(histogram, permille);

		ALWAYS(value >= last);
		last = value;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dualpi2_histogram histogram = {};
	size_t used = size < sizeof(histogram) ? size : sizeof(histogram);
	uint32_t octave = 0;

	memcpy(&histogram, data, used);
	check_quantiles(&histogram);
	memset(&histogram, 0, sizeof(histogram));
	for (; used + sizeof(uint64_t) <= size; used += sizeof(uint64_t)) {
		uint64_t ns;

		memcpy(&ns, data + used, sizeof(ns));
		histogram_record(&histogram, ns, &octave);
		ALWAYS(histogram_quantile(&histogram, 1000) <= histogram.max_ns);
	}
	check_quantiles(&histogram);
	return 0;
}
