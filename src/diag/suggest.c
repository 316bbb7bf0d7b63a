/*
 * The distance of two words is the optimal string alignment distance: the number of insertions, deletions, replacements
 * and swaps of neighbours. It is computed in three rolling rows on the stack. A candidate that differs in case only has
 * distance 1.
 */
#include "diag/suggest.h"
#include "support/limits.h"

#include <string.h>
#include <strings.h>

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][DFL_LONGEST_SUGGESTION + 1];

    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3];
        const size_t *two_before = rows[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = min_of(min_of(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min_of(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/*
 * The set of characters of a word as bits, letters without their case. Every character in only one of two words needs an
 * edit, and one edit removes at most one such character of each word: the set difference bounds the distance from below.
 */
static uint64_t character_set(const char *word, size_t len)
{
    uint64_t set = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)word[i];

        set |= UINT64_C(1) << ((c & 31u) | (c < 64 ? 32u : 0u));
    }
    return set;
}

/* Whether the distance of two words is at least `nearest`, even if case is ignored; false when it may be less. */
static bool is_far(size_t na, uint64_t set, const char *b, size_t nb, size_t nearest)
{
    uint64_t other;

    if ((na > nb ? na - nb : nb - na) >= nearest)
        return true;
    other = character_set(b, nb);
    return (size_t)__builtin_popcountll(set & ~other) >= nearest || (size_t)__builtin_popcountll(other & ~set) >= nearest;
}

dfl_sym dfl_suggest(const dfl_intern *names, const char *word, const dfl_sym *candidates, size_t n)
{
    size_t len = strlen(word);
    size_t nearest = (len == 2 ? 1 : len / 3) + 1;
    uint64_t set;
    dfl_sym best = 0;

    if (len == 0 || len > DFL_LONGEST_SUGGESTION)
        return 0;
    set = character_set(word, len);
    for (size_t i = 0; i < n; i++) {
        const char *text = dfl_sym_text(names, candidates[i]);
        size_t text_len = strlen(text);
        size_t d;

        if (text_len == 0 || text_len > DFL_LONGEST_SUGGESTION || is_far(len, set, text, text_len, nearest))
            continue;
        d = distance(word, len, text, text_len);
        if (d > 1 && text_len == len && strcasecmp(word, text) == 0)
            d = 1;
        if (len == 1 && d == 1 && strcasecmp(word, text) == 0 && best == 0)
            best = candidates[i];
        if (d == 0 || d >= nearest)
            continue;
        nearest = d;
        best = candidates[i];
        if (d == 1)
            break;
    }
    return best;
}
