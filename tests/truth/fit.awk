# Fits the numbers of a derived chip to measured rows by coordinate descent through dflc, and prints the text of the chip
# with the fitted numbers.
#
#   awk -f fit.awk -v dflc=... -v body=MAPPINGS -v measured=ROWS -v rounds=N CHIP.fit
#   awk -f fit.awk -v fill_only=1 CHIP.fit      prints the text with the numbers it starts from
#
# CHIP.fit has lines `number NAME START LOW HIGH STEP`, a line `---`, and then the text, in which {NAME} stands for a number
# and {points NAME FIRST N UNIT} for `FIRST UNIT, NAME_1 %, ...`: N numbers one decade apart, with the geometric middle of
# each two decades between them. After a line `file PATH` stands the text of a second file, filled alike. MAPPINGS are the
# candidates of all rows, ROWS are lines `row,microseconds`. A row costs what its fastest candidate costs, plus its mapping `before`
# if there is one. The score is the median error, plus 0.3 of the 90th percentile, plus 0.1 of the mean.
function fill(text,   out, key, word, i, v, w) {
    out = ""
    while (match(text, /\{[a-z][a-z0-9_ .A-Z]*\}/)) {
        key = substr(text, RSTART + 1, RLENGTH - 2)
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (split(key, word, " ") > 1) {
            for (i = 1; i <= word[4]; i++) {
                v = number[word[2] "_" i]
                if (i > 1)
                    out = out sprintf(", %.4g%s, %.4g%%", word[3] * 10 ^ (i - 1.5), word[5], 50 * (v + number[word[2] "_" (i - 1)]))
                out = out sprintf("%s%s%s, %.4g%%", i > 1 ? ", " : "", i > 1 ? word[3] * 10 ^ (i - 1) : 0, word[5], 100 * v)
            }
        } else
            out = out sprintf("%.4g", number[key])
    }
    return out text
}

# Error of every row with the present numbers; the score.
function score(   command, line, at, row, n, i, e, sum, list) {
    printf "%s\n", fill(text) > chip
    close(chip)
    if (file != "") {
        printf "%s", fill(text_of_file) > file
        close(file)
    }
    split("", best)
    split("", before)
    command = "cat " chip " " body " | " dflc " eval -A inner-home --format csv --columns latency /dev/stdin 2> " chip ".err"
    while ((command | getline line) > 0) {
        at = index(line, "_")
        if (substr(line, 1, 1) != "r" || !at) continue
        row = substr(line, 2, at - 2)
        first_part = substr(line, at + 1, 6) == "before"
        line = substr(line, index(line, ",") + 1) + 0
        if (first_part) { before[row] = line; continue }
        if (line > 0 && (!(row in best) || line < best[row])) best[row] = line
    }
    close(command)
    n = 0
    sum = 0
    for (row in us)
        if (row in best) {
            e = (best[row] + before[row]) * 1e6 / us[row] - 1
            errors[n++] = e < 0 ? -e : e
            sum += e < 0 ? -e : e
        }
    if (n == 0) { print "no row evaluates" > "/dev/stderr"; exit 1 }
    sort(n)
    median = errors[int(n / 2)]
    high = errors[int(n * 0.9)]
    evaluated = n
    return median + 0.3 * high + 0.1 * sum / n
}

function sort(n,   gap, i, j, x) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap; i < n; i++) {
            x = errors[i]
            for (j = i; j >= gap && errors[j - gap] > x; j -= gap) errors[j] = errors[j - gap]
            errors[j] = x
        }
}

BEGIN {
    while (measured != "" && (getline line < measured) > 0) {
        split(line, field, ",")
        us[field[1]] = field[2]
    }
    if (!fill_only) "mktemp" | getline chip
}
!started && $1 == "number" { name[++n_numbers] = $2; number[$2] = $3; low[$2] = $4; high_of[$2] = $5; step[$2] = $6; next }
/^---$/ { started = 1; next }
started && $1 == "file" { file = $2; next }
file != "" { text_of_file = text_of_file $0 "\n"; next }
started { text = text $0 "\n" }
END {
    if (fill_only) { printf "%s", fill(text); exit }
    now = score()
    printf "start: median %.4f, 90th percentile %.4f, %d rows\n", median, high, evaluated > "/dev/stderr"
    for (round = 1; round <= rounds; round++) {
        for (i = 1; i <= n_numbers; i++) {
            x = name[i]
            old = number[x]
            found = 0
            for (sign = 1; sign >= -1 && !found; sign -= 2) {
                if (direction[x] * sign < 0 && sign == 1 && round > 1) { first = -1 } else first = 1
                number[x] = old * (1 + sign * first * step[x])
                if (number[x] < low[x]) number[x] = low[x]
                if (number[x] > high_of[x]) number[x] = high_of[x]
                if (number[x] == old) continue
                s = score()
                if (s < now - 1e-6) {
                    now = s
                    found = 1
                    direction[x] = sign * first
                }
            }
            if (!found) {
                number[x] = old
                step[x] *= 0.6
            }
        }
        score()
        printf "round %d: median %.4f, 90th percentile %.4f\n", round, median, high > "/dev/stderr"
    }
    system("rm -f " chip " " chip ".err")
    printf "%s", fill(text)
    for (i = 1; i <= n_numbers; i++)
        printf "number %s %.4g %s %s %s\n", name[i], number[name[i]], low[name[i]], high_of[name[i]], step[name[i]] < 0.05 ? 0.1 : step[name[i]] > "/dev/stderr"
}
