# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of our programs for bash: interfaces, commands, options, and the values of an option
# that takes one of a few, or a file. What there is the program itself says (--help all).

_dualpi2_offer()
{
	mapfile -t COMPREPLY < <(compgen "$@")
}

# The words to offer for what an option takes ($1).
_dualpi2_values()
{
	# shellcheck source=completion/_dualpi2_values
	source "${BASH_SOURCE[0]%/*}/_dualpi2_values"
}

# What an option ($2), also as tc spells it, takes by this help ($1): "RATE", "step|ramp".
_dualpi2_takes()
{
	local name=${2#--}

	name=${name//_/-}
	if [[ $name =~ ^[a-z0-9-]+$ ]]; then
		sed -n "s/^ *\(-[a-z], \)\{0,1\}--$name \([^ ]\{1,\}\)\(  .*\)\{0,1\}$/\2/p" <<<"$1"
	fi
}

# The values of an option ($3) for the word ($2), or the options, of what this help ($1) is of.
# False: the word is neither.
_dualpi2_option()
{
	local help=$1 word=$2 takes before=

	takes=$(_dualpi2_takes "$help" "$3")
	if [[ $takes == LIST && $word == *,* ]]; then
		before=${word%,*},
	fi
	case $takes in
	FILE) _dualpi2_offer -f -- "$word" ;;
	PATH) _dualpi2_offer -d -- "${word:-/sys/fs/cgroup/}" ;;
	?*) _dualpi2_offer -P "$before" -W "$(_dualpi2_values "$takes")" -- "${word##*,}" ;;
	'')
		[[ $word == -* ]] || return 1
		_dualpi2_offer -W "$(sed -n \
			's/^ *\(-[a-z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' <<<"$help")" -- "$word"
		;;
	esac
}

_dualpi2()
{
	local help commands=

	help=$("$1" --help all 2>/dev/null)
	if ((COMP_CWORD == 1)); then # those that the usage has besides an interface
		commands=$(sed -n 's/^ \{7\}[^ -][^ ]* \([a-z]\{1,\}\).*/\1/p' <<<"$help")
	fi
	_dualpi2_option "$help" "$2" "$3" ||
		_dualpi2_offer -W "$(_dualpi2_values IFACE) $commands" -- "$2"
}

# Where the command stands that `run` is to run: behind its options (of $1), and a `--`.
_dualpi2_rest()
{
	local i option

	for ((i = 2; i < COMP_CWORD; i++)); do
		option=${COMP_WORDS[i]}
		if [[ $option != -* ]]; then
			break
		elif [[ $option == -- ]]; then
			((i++))
			break
		elif [[ $1 == *" $option "[A-Z]* ]]; then # it takes a value
			((i++))
		fi
	done
	echo "$i"
}

# A program that is told by its first argument what to do.
_dualpi2_command()
{
	local word=$2 before=$3 subcommand=${COMP_WORDS[1]} help rest

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_dualpi2_offer -W "$("$1" --help | sed -n '/^Commands:/,/^$/s/^ *\([a-z]*\) .*/\1/p') \
			--help --version" -- "$word"
		return
	fi
	help=$("$1" "$subcommand" --help 2>/dev/null)
	if [[ $subcommand == run ]]; then
		rest=$(_dualpi2_rest "$help")
		if ((COMP_CWORD > rest)); then
			_dualpi2_offer -f -- "$word"
			return
		elif ((COMP_CWORD == rest)) && [[ $word != -* || $before == -- ]]; then
			_dualpi2_offer -c -- "$word"
			return
		fi
	fi
	_dualpi2_option "$help" "$word" "$before" || [[ ! $subcommand =~ ^(check|measure)$ ]] ||
		_dualpi2_offer -A hostname -- "$word"
}

complete -F _dualpi2 dualpi2-load dualpi2-stats dualpi2-mark-values
complete -F _dualpi2_command tcp-prague tcp-base-rtt
