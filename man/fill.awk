# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A man page with what its program says itself (`program`): @OPTIONS@ stands for all options,
# @OPTIONS COMMAND@ for those of one of its commands, and @OPTIONS COMMAND GROUP@ for one group of
# them.

function fill(command, group,	listed, from, line)
{
	listed = program " " command " --help all"
	if (system(listed " > /dev/null"))
		exit 1
	from = listed " | awk -v command='" command "' -v group='" group "' -f man/options.awk"
	while ((from | getline line) > 0)
		print line
	if (close(from))
		exit 1
}

/^@OPTIONS( [A-Za-z]+)*@$/ {
	gsub(/@/, "")
	fill($2, $3)
	next
}

{
	gsub(/@VERSION@/, version)
	print
}
