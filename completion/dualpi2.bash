# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of dualpi2-load and dualpi2-stats for bash: interfaces, options, and the values of an
# option that takes one of a few, or a file. What there is the program itself says (--help).

_dualpi2()
{
	local word=$2 before=$3 help values interfaces

	help=$("$1" --help 2>/dev/null)
	# "--l-aqm step|ramp" in the help text
	values=$(sed -n 's/^ .*\(--[a-z0-9-]*\) \([a-z0-9]*|[a-z0-9|]*\)\( .*\)\{0,1\}$/\1 \2/p' <<<"$help" |
		sed -n "s/^$before //p" | tr '|' ' ')
	if [[ -n $values ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
	elif [[ $help == *" $before FILE"* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(sed -n \
			's/^ *\(-[a-z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' <<<"$help")" -- "$word")
	else
		interfaces=$(sed -n 's/^ *\([^ ]*\):.*/\1/p' /proc/net/dev)
		mapfile -t COMPREPLY < <(compgen -W "$interfaces" -- "$word")
	fi
}

complete -F _dualpi2 dualpi2-load dualpi2-stats
