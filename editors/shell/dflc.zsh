#compdef dflc
# zsh completion for dflc, made by `dflc help zsh`
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
        '--format=[output format; the help of each command lists its formats]:FORMAT:(text short json sarif)' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--fix[apply the suggested edits that are certainly right to the files]' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--quiet[do not show progress on a terminal]' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--effort=[with --certificate  number of tile choices to evaluate, for all templates together (default  1000000)]:N' \
        '--jobs=[number of files to process, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    eval) _arguments \
        '--format=[output format; the help of each command lists its formats]:FORMAT:(text json csv)' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--only=[process the mapping NAME only]:NAME' \
        '--tiles=[tile sizes to search  perfect (divisors; the default) or imperfect (also sizes that do not divide)]:KIND' \
        '--spread=[ranks to map to an axis that shares transfers  sharing (those that share, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[also search outside of the space of open lines  a list of order, recompute, spill, split, window, pipeline, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--quiet[do not show progress on a terminal]' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--details[print a full report for every mapping, and every part of a difference]' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    map) _arguments \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--name=[process the mapping NAME only]:NAME' \
        '--tiles=[tile sizes to search  perfect (divisors; the default) or imperfect (also sizes that do not divide)]:KIND' \
        '--spread=[ranks to map to an axis that shares transfers  sharing (those that share, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[also search outside of the space of open lines  a list of order, recompute, spill, split, window, pipeline, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--top=[report the best mapping of each of the K best kinds (at most 64) where all lines are open; the best one keeps its name, the others are called NAME_2, NAME_3, ...]:K' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--quiet[do not show progress on a terminal]' \
        '--certificate=[check  verify the certificate FILE; map, eval  write the certificate of the result to FILE]:FILE' \
        '--write[rewrite the files in place]' \
        '--jobs=[number of files to process, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    diff) _arguments \
        '--format=[output format; the help of each command lists its formats]:FORMAT:(text json)' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--name=[process the mapping NAME only]:NAME' \
        '--tiles=[tile sizes to search  perfect (divisors; the default) or imperfect (also sizes that do not divide)]:KIND' \
        '--spread=[ranks to map to an axis that shares transfers  sharing (those that share, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[also search outside of the space of open lines  a list of order, recompute, spill, split, window, pipeline, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--quiet[do not show progress on a terminal]' \
        '--details[print a full report for every mapping, and every part of a difference]' \
        '--jobs=[number of files to process, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    prove) _arguments \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--only=[process the mapping NAME only]:NAME' \
        '--size=[run the rank RANK at the extent N;  --size 4  sets all ranks; may be repeated]:RANK=N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    test) _arguments \
        '--format=[output format; the help of each command lists its formats]:FORMAT:(tap junit)' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--allow=[disable the lint LINT ( all   every lint)]:LINT' \
        '--warn=[report the lint LINT as a warning]:LINT' \
        '--deny=[report the lint LINT as an error]:LINT' \
        '--tiles=[tile sizes to search  perfect (divisors; the default) or imperfect (also sizes that do not divide)]:KIND' \
        '--spread=[ranks to map to an axis that shares transfers  sharing (those that share, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[also search outside of the space of open lines  a list of order, recompute, spill, split, window, pipeline, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--quiet[do not show progress on a terminal]' \
        '--jobs=[number of files to process, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    fmt) _arguments \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--write[rewrite the files in place]' \
        '--check[print the names of the files that would change; exit with 1 if there are any]' \
        '--diff[print the changes as a unified diff; exit with 1 if there are any]' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    explain) _arguments \
        '--format=[output format; the help of each command lists its formats]:FORMAT:(text json)' \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--result=[report what the cost of the mapping NAME depends on]:NAME' \
        '--tiles=[tile sizes to search  perfect (divisors; the default) or imperfect (also sizes that do not divide)]:KIND' \
        '--spread=[ranks to map to an axis that shares transfers  sharing (those that share, and others if more instances then work; the default) or any]:RANKS' \
        '--beyond=[also search outside of the space of open lines  a list of order, recompute, spill, split, window, pipeline, separated by commas, or all]:KINDS' \
        '--max-fused=[largest number of loops that einsums share in a search (0  no fusion; default  4)]:N' \
        '--time-limit=[stop each search, or the check of a certificate, after SECONDS and report the best result so far]:SECONDS' \
        '--evaluations=[stop each search after about N evaluations and report the best result so far, which is the same for any number of threads (default  20000000 for tile sizes, none for lines)]:N' \
        '--quiet[do not show progress on a terminal]' \
        '--jobs=[number of files to process, or of threads of a search; the results do not depend on it]:N' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--verbose[eval, map, explain  also print the space and the effort of each search; version  also print formats and limits]' \
        '--help[print help]' \
        '*:file:_files' ;;
    import) _arguments \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--hw=[hardware description that belongs to the mapping file]:FILE' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
        '--color=[colour of messages  auto, always or never; a non-empty NO_COLOR in the environment means never]:WHEN' \
        '--help[print help]' \
        '*:file:_files' ;;
    dump) _arguments \
        '--output=[write the output to FILE instead of standard output; FILE is written completely or not at all]:FILE' \
        '--stdin-filename=[name of standard input in messages; standard input is read for the file name  - ]:NAME' \
        '--memory-limit=[largest amount of memory to use (512MiB, 2GiB; default  4GiB)]:SIZE' \
        '--step-limit=[largest number of steps of work (default  100000000)]:N' \
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
