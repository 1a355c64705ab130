# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The counters of a queue in include/dualpi2.h, X(member, "unit", "meaning"), for a man page;
# spelled as `dualpi2-stats --json` does.

match($0, /^\tX\([a-z0-9_]+, "/) {
	split($0, part, "\"")
	name = substr($0, 4, RLENGTH - 6)
	gsub(/_/, "\\-", name)
	gsub(/-/, "\\-", part[4])
	print ".TP\n\\fB" name "\\fR (" part[2] ")\n" part[4]
}
