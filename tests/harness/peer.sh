# For tests that compare with reports of a peer; scripts source this file after script.sh. Runs "$program" on the directory
# "$reference", prints its output except the last line, and sets `passed` and `failed` from the last line. The output
# stays in "$work/log".
compare_with_peer() {
    local status summary
    "$program" "$reference" >"$work/log"
    status=$?
    sed '$d' "$work/log"
    summary=$(tail -n 1 "$work/log")
    passed=$(printf '%s' "$summary" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
    failed=$(printf '%s' "$summary" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
    if [ -z "$failed" ]; then
        echo "FAILED: the comparison ended with status $status and no summary"
        passed=0 failed=1
    fi
}
