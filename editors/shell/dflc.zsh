#compdef dflc
# zsh completion for dflc, made by `dflc help zsh`
_dflc_mappings() {
    local file
    for file; do
        case $file in
        *.dfl) dflc list "$file" 2>/dev/null | awk '$1 == "mapping" { print $2 }' ;;
        esac
    done
}
_dflc() {
    local -a commands
    commands=(
        'check:report errors and warnings'
        'eval:evaluate mappings  counts, time, energy'
        'map:search for the best mapping'
        'diff:compare two mappings or reports'
        'prove:execute mappings at small sizes and compare every count'
        'test:evaluate the checks of files'
        'fmt:format files'
        'explain:explain a diagnostic or the cost of a mapping'
        'list:list the declarations of a file, or the files of the library'
        'import:convert files of other tools to DFL'
        'dump:print tokens, syntax tree or intermediate representation'
        'version:print the version'
        'help:print help'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case $words[2] in
    check) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(text short json sarif)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--fix[edit the files  apply the suggested edits that are certain to be right]' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--effort=[with --certificate  total number of choices of tile sizes to evaluate (default  1000000)]:N' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    eval) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(text json csv)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--only=[process the mapping NAME only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--tiles=[tile sizes to search  perfect (those that divide) or imperfect (others, too); by default those that divide, but all of a single einsum with an extent of few or very many divisors]:KIND' \
        '--spread=[ranks that a search maps to an axis whose network shares transfers  sharing (ranks that share transfers there, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[extend a search over  { ...; }  by kinds of mappings  a list of order, recompute, spill, split, window, pipeline, keep, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--gap=[stop each search when its result is at most PERCENT above the lower bound, as in --gap 1%; exit status 0]:PERCENT' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--details[eval  print a full report for every mapping; diff  print every part of a difference]' \
        '--sum[add the sum of latency, energy and operations over all mappings]' \
        '--columns=[print a table with one row for each mapping and the figures NAMES, paths separated by commas  latency,energy,dram.reads; a name that a mapping does not have, such as reuse, stands for all its parts that have it]:NAMES' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    map) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(dfl json csv)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--only=[process the mapping NAME only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--name=[the same as --only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--tiles=[tile sizes to search  perfect (those that divide) or imperfect (others, too); by default those that divide, but all of a single einsum with an extent of few or very many divisors]:KIND' \
        '--spread=[ranks that a search maps to an axis whose network shares transfers  sharing (ranks that share transfers there, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[extend a search over  { ...; }  by kinds of mappings  a list of order, recompute, spill, split, window, pipeline, keep, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--top=[list K results, best first (1 to 64)  of a plan over chips the K best plans; of a mapping whose lines are all open the best mapping of each of the K best kinds, which differ in keeps, exchanges or shared loops; the best one keeps its name, the others are called NAME_2, NAME_3, ...]:K' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--gap=[stop each search when its result is at most PERCENT above the lower bound, as in --gap 1%; exit status 0]:PERCENT' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--write[rewrite the files in place]' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    diff) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(text json)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--only=[process the mapping NAME only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--name=[the same as --only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--tiles=[tile sizes to search  perfect (those that divide) or imperfect (others, too); by default those that divide, but all of a single einsum with an extent of few or very many divisors]:KIND' \
        '--spread=[ranks that a search maps to an axis whose network shares transfers  sharing (ranks that share transfers there, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[extend a search over  { ...; }  by kinds of mappings  a list of order, recompute, spill, split, window, pipeline, keep, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--gap=[stop each search when its result is at most PERCENT above the lower bound, as in --gap 1%; exit status 0]:PERCENT' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--details[eval  print a full report for every mapping; diff  print every part of a difference]' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    prove) _arguments \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--only=[process the mapping NAME only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--size=[execute with the extent N of the rank RANK;  --size 4  sets all ranks; may be repeated]:RANK=N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    test) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(tap junit)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--tiles=[tile sizes to search  perfect (those that divide) or imperfect (others, too); by default those that divide, but all of a single einsum with an extent of few or very many divisors]:KIND' \
        '--spread=[ranks that a search maps to an axis whose network shares transfers  sharing (ranks that share transfers there, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[extend a search over  { ...; }  by kinds of mappings  a list of order, recompute, spill, split, window, pipeline, keep, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--gap=[stop each search when its result is at most PERCENT above the lower bound, as in --gap 1%; exit status 0]:PERCENT' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    fmt) _arguments \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--write[rewrite the files in place]' \
        '--check[print the names of the files that would change; exit with 1 if there are any]' \
        '--diff[print the changes as a unified diff; exit with 1 if there are any]' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    explain) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(text json)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--only=[process the mapping NAME only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--result=[the same as --only]:NAME:($(_dflc_mappings ${words[3,-1]}))' \
        '--tiles=[tile sizes to search  perfect (those that divide) or imperfect (others, too); by default those that divide, but all of a single einsum with an extent of few or very many divisors]:KIND' \
        '--spread=[ranks that a search maps to an axis whose network shares transfers  sharing (ranks that share transfers there, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[extend a search over  { ...; }  by kinds of mappings  a list of order, recompute, spill, split, window, pipeline, keep, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS (0.5, 10s, 5min) and report the best result so far;  test  counts work in place of time (none  no limit; without any limit a search ends after a fixed amount of work, some 30 s on a free machine, longer where other work runs)]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--gap=[stop each search when its result is at most PERCENT above the lower bound, as in --gap 1%; exit status 0]:PERCENT' \
        '--quiet[the same as --progress none]' \
        '--progress=[progress of searches on standard error  auto (one line that is overwritten, on a terminal; the default), plain (one line of text after another, for a log) or none]:KIND' \
        '--jobs=[number of files to process at the same time, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    list) _arguments \
        '--format=[output format  one of those that the help of the command lists]:FORMAT:(text json)' \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    import) _arguments \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--hw=[hardware description that belongs to the mapping file]:FILE' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    dump) _arguments \
        '--message-format=[format of the diagnostics on standard error  text, short (one line each), json (one object per line, grammar/dfl-diagnostic-1.schema.json) or sarif]:FORMAT' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--set=[give the  param  NAME of the file the value VALUE, an expression in DFL   --set seq=4096 ,  --set bw=2*32GB/s ; ALIAS.NAME names a  param  of an import; may be repeated]:NAME=VALUE' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work, as  dflc explain E0602  defines them (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    version) _arguments \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    help) _arguments \
        '--help[print help]' \
        '*:file:_files' ;;
    esac
}
_dflc "$@"
