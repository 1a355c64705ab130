# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One section (queue, qdisc) of what the preprocessor makes of counters.in, for a man page.

$1 == "@@" section {
	rows = split(substr($0, length($1) + 1), row, " ; *@?|^ *@")
	for (i = 1; i <= rows; i++) {
		if (split(row[i], part, "\" : \"") != 3)
			continue
		gsub(/" "|"/, "", part[3])
		gsub(/["@ ]/, "", part[1])
		gsub(/-/, "\\-", part[1])
		gsub(/-/, "\\-", part[3])
		print ".TP\n\\fB" part[1] "\\fR (" part[2] ")\n" part[3]
	}
}
