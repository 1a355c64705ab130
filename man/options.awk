# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The groups of options in what `PROGRAM --help all` prints, for a man page. Those of a `command`
# have no headings, and what all commands have (General) stands there only if that is the `group`
# asked for.

function roff(text)
{
	gsub(/-/, "\\-", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

/^[A-Z].*:$/ {
	heading = substr($0, 1, length($0) - 1)
	in_group = group ? heading == group : !command || heading != "General"
	if (!command)
		print ".SS " heading
	next
}

!in_group || /^$/ {
	in_group = 0
	next
}

match($0, /^ +(-[a-z], )?--[a-z0-9-]+( [^ ]+)?/) {
	option = substr($0, 1, RLENGTH)
	text = substr($0, RLENGTH + 1)
	sub(/^ +/, "", option)
	print ".TP"
	argument = ""
	if (match(option, / [^ ]+$/) && option !~ /, --[a-z-]+$/) {
		argument = " \\fI" roff(substr(option, RSTART + 1)) "\\fR"
		option = substr(option, 1, RSTART - 1)
	}
	print "\\fB" roff(option) "\\fR" argument
	sub(/^ +/, "", text)
	if (text)
		print roff(text)
	next
}

{
	sub(/^ +/, "")
	print roff($0)
}
