#compdef dflc
# zsh completion for dflc, made by `dflc help zsh`
_dflc() {
    local -a commands
    commands=(
        'check:what is wrong with files'
        'eval:what the mappings of a file cost'
        'map:fill the holes of mappings with what is best'
        'diff:what two mappings or reports differ in'
        'prove:execute mappings at small sizes and compare every count'
        'test:judge  expect ,  require  and  assume '
        'fmt:lay out files'
        'explain:what a diagnostic means, or why a mapping costs what it does'
        'import:another tool s mappings as DFL'
        'dump:tokens, syntax tree, or intermediate representation'
        'version:the version'
        'help:help on a command'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case $words[2] in
    check) _arguments \
        '--format=[how to print; the formats of each command are listed in its help]:FORMAT:(text short json sarif)' \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--allow=[do not warn of LINT ( all   of nothing)]:LINT' \
        '--warn=[warn of LINT]:LINT' \
        '--deny=[make LINT an error]:LINT' \
        '--fix[apply the corrections that are sure to the files]' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--certificate=[check  verify what a search claims in FILE, a certificate; map, eval  write the one of the mapping found]:FILE' \
        '--effort=[with --certificate  choices of tiles to evaluate, of all templates together (default 1000000)]:N' \
        '--jobs=[files to work on, or threads of a search, at the same time; results do not depend on it]:N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    eval) _arguments \
        '--format=[how to print; the formats of each command are listed in its help]:FORMAT:(text json csv)' \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--allow=[do not warn of LINT ( all   of nothing)]:LINT' \
        '--warn=[warn of LINT]:LINT' \
        '--deny=[make LINT an error]:LINT' \
        '--only=[only the mapping NAME]:NAME' \
        '--tiles=[tiles that searches try  perfect (divisors, the default) or imperfect (all that differ in their number)]:KIND' \
        '--spread=[ranks that searches spread over axes that share transfers  sharing (one, or more of all axes; the default) or any]:RANKS' \
        '--beyond=[what searches for all lines look at besides  order, recompute, spill, split, window, pipeline, with commas, or all]:KINDS' \
        '--max-fused=[let einsums share no more than N loops where a search chooses them (0  fuse nothing); default  up to 4]:N' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations, with the best so far, the same for any number of threads (default 20000000 for amounts of loops; none for lines)]:N' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--certificate=[check  verify what a search claims in FILE, a certificate; map, eval  write the one of the mapping found]:FILE' \
        '--details[a full screen for every mapping, and every part of a difference]' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    map) _arguments \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--allow=[do not warn of LINT ( all   of nothing)]:LINT' \
        '--warn=[warn of LINT]:LINT' \
        '--deny=[make LINT an error]:LINT' \
        '--name=[only the mapping NAME]:NAME' \
        '--tiles=[tiles that searches try  perfect (divisors, the default) or imperfect (all that differ in their number)]:KIND' \
        '--spread=[ranks that searches spread over axes that share transfers  sharing (one, or more of all axes; the default) or any]:RANKS' \
        '--beyond=[what searches for all lines look at besides  order, recompute, spill, split, window, pipeline, with commas, or all]:KINDS' \
        '--max-fused=[let einsums share no more than N loops where a search chooses them (0  fuse nothing); default  up to 4]:N' \
        '--top=[the best mapping of each of the K best kinds (at most 64) where all lines are open  the best of all in the place of the mapping that is asked for, and with its name, the others behind it as NAME_2, NAME_3...]:K' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations, with the best so far, the same for any number of threads (default 20000000 for amounts of loops; none for lines)]:N' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--certificate=[check  verify what a search claims in FILE, a certificate; map, eval  write the one of the mapping found]:FILE' \
        '--write[rewrite the files in place]' \
        '--jobs=[files to work on, or threads of a search, at the same time; results do not depend on it]:N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    diff) _arguments \
        '--format=[how to print; the formats of each command are listed in its help]:FORMAT:(text json)' \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--name=[only the mapping NAME]:NAME' \
        '--tiles=[tiles that searches try  perfect (divisors, the default) or imperfect (all that differ in their number)]:KIND' \
        '--spread=[ranks that searches spread over axes that share transfers  sharing (one, or more of all axes; the default) or any]:RANKS' \
        '--beyond=[what searches for all lines look at besides  order, recompute, spill, split, window, pipeline, with commas, or all]:KINDS' \
        '--max-fused=[let einsums share no more than N loops where a search chooses them (0  fuse nothing); default  up to 4]:N' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations, with the best so far, the same for any number of threads (default 20000000 for amounts of loops; none for lines)]:N' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--details[a full screen for every mapping, and every part of a difference]' \
        '--jobs=[files to work on, or threads of a search, at the same time; results do not depend on it]:N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    prove) _arguments \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--allow=[do not warn of LINT ( all   of nothing)]:LINT' \
        '--warn=[warn of LINT]:LINT' \
        '--deny=[make LINT an error]:LINT' \
        '--only=[only the mapping NAME]:NAME' \
        '--size=[run rank RANK at extent N;  --size 4  is for all ranks; may be repeated]:RANK=N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    test) _arguments \
        '--format=[how to print; the formats of each command are listed in its help]:FORMAT:(tap junit)' \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--allow=[do not warn of LINT ( all   of nothing)]:LINT' \
        '--warn=[warn of LINT]:LINT' \
        '--deny=[make LINT an error]:LINT' \
        '--tiles=[tiles that searches try  perfect (divisors, the default) or imperfect (all that differ in their number)]:KIND' \
        '--spread=[ranks that searches spread over axes that share transfers  sharing (one, or more of all axes; the default) or any]:RANKS' \
        '--beyond=[what searches for all lines look at besides  order, recompute, spill, split, window, pipeline, with commas, or all]:KINDS' \
        '--max-fused=[let einsums share no more than N loops where a search chooses them (0  fuse nothing); default  up to 4]:N' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations, with the best so far, the same for any number of threads (default 20000000 for amounts of loops; none for lines)]:N' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--jobs=[files to work on, or threads of a search, at the same time; results do not depend on it]:N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    fmt) _arguments \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--write[rewrite the files in place]' \
        '--check[print the names of files that would change, and exit with 1]' \
        '--diff[print what would change as a unified diff, and exit with 1]' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    explain) _arguments \
        '--format=[how to print; the formats of each command are listed in its help]:FORMAT:(text json)' \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--result=[what the costs of the mapping NAME depend on]:NAME' \
        '--tiles=[tiles that searches try  perfect (divisors, the default) or imperfect (all that differ in their number)]:KIND' \
        '--spread=[ranks that searches spread over axes that share transfers  sharing (one, or more of all axes; the default) or any]:RANKS' \
        '--beyond=[what searches for all lines look at besides  order, recompute, spill, split, window, pipeline, with commas, or all]:KINDS' \
        '--max-fused=[let einsums share no more than N loops where a search chooses them (0  fuse nothing); default  up to 4]:N' \
        '--time-limit=[stop each search then, with the best so far, or the check of a certificate, with what holds so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations, with the best so far, the same for any number of threads (default 20000000 for amounts of loops; none for lines)]:N' \
        '--quiet[do not show on a terminal how far a search, or the check of a certificate, is]' \
        '--jobs=[files to work on, or threads of a search, at the same time; results do not depend on it]:N' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    import) _arguments \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--hw=[the hardware description that goes with the mapping file]:FILE' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    dump) _arguments \
        '--output=[write there instead of to standard output; the file appears whole or not at all]:FILE' \
        '--stdin-filename=[what messages call standard input, which is read for the file name  - ]:NAME' \
        '--memory-limit=[stop beyond this much memory (512MiB, 2GiB; default 4GiB)]:SIZE' \
        '--step-limit=[stop beyond this many steps of work (default 100000000)]:N' \
        '--color=[colour messages  auto, always or never; NO_COLOR in the environment means never]:WHEN' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    version) _arguments \
        '--verbose[also the libraries and limits]' \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    help) _arguments \
        '--help[print help, starting with an example]' \
        '*:file:_files' ;;
    esac
}
_dflc "$@"
