# bash completion for dflc, made by `dflc help bash`
_dflc_mappings() {
    local file
    for file; do
        case $file in
        *.dfl) dflc list "$file" 2>/dev/null | awk '$1 == "mapping" { print $2 }' ;;
        esac
    done
}
_dflc() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'check eval map diff prove test fmt explain list import dump version help' -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]}:$before in
    check:--format) COMPREPLY=($(compgen -W 'text short json sarif' -- "$word")); return ;;
    eval:--format) COMPREPLY=($(compgen -W 'text json csv' -- "$word")); return ;;
    map:--format) COMPREPLY=($(compgen -W 'dfl json csv' -- "$word")); return ;;
    diff:--format) COMPREPLY=($(compgen -W 'text json' -- "$word")); return ;;
    test:--format) COMPREPLY=($(compgen -W 'tap junit' -- "$word")); return ;;
    explain:--format) COMPREPLY=($(compgen -W 'text json' -- "$word")); return ;;
    list:--format) COMPREPLY=($(compgen -W 'text json' -- "$word")); return ;;
    *:--only | *:--name | *:--result)
        COMPREPLY=($(compgen -W "$(_dflc_mappings "${COMP_WORDS[@]:2}")" -- "$word")); return ;;
    *:--color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")); return ;;
    *:--progress) COMPREPLY=($(compgen -W 'auto plain none' -- "$word")); return ;;
    *:--message-format) COMPREPLY=($(compgen -W 'text short json sarif' -- "$word")); return ;;
    esac
    case ${COMP_WORDS[1]} in
    check) words='--format --message-format -o --output --stdin-filename --set -A --allow -W --warn -D --deny --fix --time-limit -q --quiet --progress --certificate --effort -j --jobs --memory-limit --step-limit --color -h --help ' ;;
    eval) words='--format --message-format -o --output --stdin-filename --set -A --allow -W --warn -D --deny --only --tiles --spread --beyond --max-fused --time-limit --evaluations --gap -q --quiet --progress --certificate --details --sum --columns -j --jobs --memory-limit --step-limit --color -v --verbose -h --help ' ;;
    map) words='--format --message-format -o --output --stdin-filename --set -A --allow -W --warn -D --deny --only --name --tiles --spread --beyond --max-fused --top --time-limit --evaluations --gap -q --quiet --progress --certificate -w --write -j --jobs --memory-limit --step-limit --color -v --verbose -h --help ' ;;
    diff) words='--format --message-format -o --output --stdin-filename --set --only --name --tiles --spread --beyond --max-fused --time-limit --evaluations --gap -q --quiet --progress --details -j --jobs --memory-limit --step-limit --color -h --help ' ;;
    prove) words='--message-format -o --output --stdin-filename --set -A --allow -W --warn -D --deny --only --size --memory-limit --step-limit --color -h --help ' ;;
    test) words='--format --message-format -o --output --stdin-filename --set -A --allow -W --warn -D --deny --tiles --spread --beyond --max-fused --time-limit --evaluations --gap -q --quiet --progress -j --jobs --memory-limit --step-limit --color -h --help ' ;;
    fmt) words='--message-format -o --output --stdin-filename -w --write --check --diff --memory-limit --step-limit --color -h --help ' ;;
    explain) words='--format --message-format -o --output --stdin-filename --set --only --result --tiles --spread --beyond --max-fused --time-limit --evaluations --gap -q --quiet --progress -j --jobs --memory-limit --step-limit --color -v --verbose -h --help ' ;;
    list) words='--format --message-format -o --output --stdin-filename --memory-limit --step-limit --color -h --help ' ;;
    import) words='--message-format -o --output --stdin-filename --hw --memory-limit --step-limit --color -h --help ' ;;
    dump) words='--message-format -o --output --stdin-filename --set --memory-limit --step-limit --color -h --help ' ;;
    version) words='-v --verbose -h --help ' ;;
    help) words='-h --help ' ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _dflc dflc
