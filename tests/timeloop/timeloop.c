/*
 * timeloop DIR [-v]: imports every fixed mapping of the reference data in DIR, evaluates it, and compares its counts
 * and compute cycles with those that Timeloop reported, and the energies of accesses. A difference must have a cause
 * that follows from the case itself. Every mapping is also printed, read back, and executed by the oracle, at a reduced
 * size if it is large. Ends with `N passed, N failed`.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/timeloop/judge.h"

enum { MOST_POINTS = 4096, LONGEST_PATH = 4096, LONGEST_FILE = 1 << 22 };

typedef struct {
    bool say;
    uint32_t verdicts[JUDGE_VERDICTS], plain, plain_equal, plain_returns, whole, counted, found, failed;
    uint32_t ways[JUDGE_WAYS];
    struct { uint32_t cases, numbers, possible; } causes[PEER_CAUSES];
} summary;

static void judge_case(summary *s, const char *name, const char *yaml, size_t len, const dfl_json *expected)
{
    judge_result r;

    if (s->say)
        printf("%s\n", name);
    judge_run(name, yaml, len, expected, MOST_POINTS, s->say, &r);
    if (r.verdict == JUDGE_UNEXPLAINED || r.verdict == JUDGE_BROKEN) {
        printf("FAILED: %s: %s\n", name, r.why.text);
        s->failed++;
    } else if (r.plain && r.verdict != JUDGE_EQUAL) {
        printf("FAILED: %s has to be equal, and is not\n", name);
        s->failed++;
    }
    s->whole += r.whole;
    s->counted += r.counted;
    s->verdicts[r.verdict]++;
    s->plain += r.plain;
    s->plain_equal += r.plain && r.verdict == JUDGE_EQUAL;
    s->plain_returns += r.plain && (r.ways >> JUDGE_RETURNS & 1);
    for (uint32_t w = 0; w < JUDGE_WAYS; w++)
        s->ways[w] += r.ways >> w & 1;
    for (uint32_t c = 0; c < PEER_CAUSES; c++) {
        s->causes[c].cases += r.causes >> c & 1;
        s->causes[c].possible += r.possible >> c & 1;
        s->causes[c].numbers += r.by_cause[c];
    }
}

/* ---- the data ---- */

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, LONGEST_FILE);

    *len = file && text ? fread(text, 1, LONGEST_FILE - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void judge_cases(summary *s, const char *root)
{
    char path[LONGEST_PATH];
    struct dirent **entries = NULL;
    int n;

    snprintf(path, sizeof path, "%s/cases", root);
    n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        dfl_arena *arena = dfl_arena_new(NULL);
        const char *name = entries[i]->d_name;
        size_t len, n_report;
        char *yaml, *report;
        snprintf(path, sizeof path, "%s/cases/%s/input.yaml", root, name);
        yaml = read_file(path, &len);
        snprintf(path, sizeof path, "%s/cases/%s/expected.json", root, name);
        report = read_file(path, &n_report);
        if (name[0] != '.')
            judge_case(s, name, yaml, len, dfl_json_parse(arena, report, n_report, NULL));
        free(yaml);
        free(report);
        dfl_arena_free(arena);
        free(entries[i]);
    }
    free(entries);
}

/* The text of the member `cfg` of a line, which is valid YAML unchanged; no string in the data has braces. */
static const char *input_of(const char *line, size_t *len)
{
    const char *key = strstr(line, "\"cfg\":"), *start = key ? strchr(key, '{') : NULL, *end = start;
    int depth = 0;

    while (end && *end) {
        depth += (*end == '{') - (*end == '}');
        end++;
        if (depth == 0)
            break;
    }
    *len = start ? (size_t)(end - start) : 0;
    return start;
}

static void judge_fuzz(summary *s, const char *root)
{
    char path[LONGEST_PATH], *line = NULL;
    size_t cap = 0;
    ssize_t len;
    FILE *file;

    snprintf(path, sizeof path, "%s/fuzz/fuzz.jsonl", root);
    file = fopen(path, "r");
    while (file && (len = getline(&line, &cap, file)) > 0) {
        dfl_arena *arena = dfl_arena_new(NULL);
        const dfl_json *all = dfl_json_parse(arena, line, (size_t)len, NULL);
        const char *id = dfl_json_text(dfl_json_get(all, "id"));
        size_t n_input;
        const char *input = input_of(line, &n_input);
        judge_case(s, id ? id : "a line that is no JSON", input, n_input, all);
        dfl_arena_free(arena);
    }
    free(line);
    if (file)
        fclose(file);
}

/* ---- mappings that the peer's mapper found ---- */

/* The run with the mapping in place of the constraints of the mapper; NULL if the data has another form. */
static char *found_text(char *input, const char *report)
{
    const char *key = strstr(report, "\"best_mapping\":"), *start = key ? strchr(key, '[') : NULL, *end = start;
    char *rest = strstr(input, "\nmapper:"), *out;
    int depth = 0;

    while (end && *end) {
        depth += (*end == '[') - (*end == ']');
        end++;
        if (depth == 0)
            break;
    }
    if (!start || !rest || !(out = malloc(2 * LONGEST_FILE)))
        return NULL;
    *rest = '\0';
    snprintf(out, 2 * LONGEST_FILE, "%s\nmapping: %.*s\n", input, (int)(end - start), start);
    return out;
}

static bool close_to(double a, double b) { return a - b <= 1e-6 * b && b - a <= 1e-6 * b; }

/* Compares energy, by the rules of the peer, and cycles with the report of a run of every iteration. They must be
   equal; the energy may be less if a cause makes the peer count more. NULL: neither. */
static const char *compare_found(const judge_best *best, const dfl_json *eval)
{
    double peer;

    if (!eval)
        return strstr(best->why.text, "E0705") ? "no remainders in the report, refused by dflc" : NULL;
    peer = dfl_json_get(eval, "energy_pJ")->real;
    if (!close_to(best->cycles, dfl_json_get(eval, "cycles")->real))
        return NULL;
    if (close_to(best->energy, peer))
        return "equal";
    return best->energy < peer && peer_causes_add(best->causes) ? "less than the peer says, which" : NULL;
}

static void judge_mapper_case(summary *s, const char *root, const char *name)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    judge_best best = { .energy = 0 };
    const dfl_json *expected, *eval;
    const char *verdict;
    char path[LONGEST_PATH], *yaml, *report, *text;
    size_t len, n_report;

    snprintf(path, sizeof path, "%s/mapper/%s/input.yaml", root, name);
    yaml = read_file(path, &len);
    snprintf(path, sizeof path, "%s/mapper/%s/expected.json", root, name);
    report = read_file(path, &n_report);
    expected = dfl_json_parse(arena, report, n_report, NULL);
    eval = dfl_json_get(expected, "best_mapping_eval_noextrap");
    eval = dfl_json_get(eval, "cycles") ? eval : dfl_json_get(expected, "best_mapping_eval");
    text = found_text(yaml, report);
    if (text)
        judge_found(name, text, strlen(text), &best);
    s->found++;
    verdict = text ? compare_found(&best, eval) : NULL;
    printf("%s%-24s %12g pJ, %9g cycles: %s", verdict ? "  " : "FAILED: ", name, best.energy, best.cycles,
           verdict ? verdict : best.why.text);
    for (uint32_t c = 0; verdict && verdict[0] == 'l' && c < PEER_CAUSES; c++)
        if (best.causes >> c & 1)
            printf(" %s", peer_cause_text(c));
    printf("\n");
    s->failed += verdict == NULL;
    free(yaml);
    free(report);
    free(text);
    dfl_arena_free(arena);
}

static void judge_mapper(summary *s, const char *root)
{
    char path[LONGEST_PATH];
    struct dirent **entries = NULL;
    int n;

    snprintf(path, sizeof path, "%s/mapper", root);
    n = scandir(path, &entries, NULL, alphasort);
    if (n > 0)
        printf("mappings that the peer's mapper found, with the energy that it charges for our counts\n");
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            judge_mapper_case(s, root, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- the report ---- */

static void print_causes(const summary *s)
{
    printf("%-62s %6s %8s %8s\n", "the peer ...", "cases", "numbers", "possible");
    for (uint32_t c = 0; c < PEER_CAUSES; c++)
        printf("  %-60s %6u %8u %8u\n", peer_cause_text(c), s->causes[c].cases, s->causes[c].numbers,
               s->causes[c].possible);
    printf("%-62s %6s\n", "expressed or converted", "cases");
    for (uint32_t w = 0; w < JUDGE_WAYS; w++)
        printf("  %-60s %6u\n", judge_way_text(w), s->ways[w]);
}

static void print_verdict(const summary *s)
{
    const char *comma = "";
    uint32_t compared = s->verdicts[JUDGE_EQUAL] + s->verdicts[JUDGE_EXPLAINED] + s->verdicts[JUDGE_UNEXPLAINED];

    printf("refused by both: %u, no report because the peer failed: %u, broken: %u\n", s->verdicts[JUDGE_REFUSED],
           s->verdicts[JUDGE_DIED], s->verdicts[JUDGE_BROKEN]);
    printf("files read back and the oracle agree: %u cases as they are, the others cut down to %d points\n", s->whole,
           MOST_POINTS);
    printf("the importer's own counts of the peer equal the report in %u cases\n", s->counted);
    printf("%u of %u plain cases equal (perfect factors, no artifacts, directives, windows), %u with returned sums\n",
           s->plain_equal, s->plain, s->plain_returns);
    printf("%u of %u cases equal, %u explained (", s->verdicts[JUDGE_EQUAL], compared, s->verdicts[JUDGE_EXPLAINED]);
    for (uint32_t c = 0; c < PEER_CAUSES; c++, comma = ", ")
        printf("%s%s: %u", comma, peer_cause_text(c), s->causes[c].cases);
    printf("), %u unexplained\n", s->verdicts[JUDGE_UNEXPLAINED]);
}

int main(int argc, char **argv)
{
    summary s = { .say = argc > 2 && strcmp(argv[2], "-v") == 0 };
    uint32_t all = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: timeloop DIR [-v]\n");
        return 2;
    }
    judge_cases(&s, argv[1]);
    judge_fuzz(&s, argv[1]);
    judge_mapper(&s, argv[1]);
    all = s.found;
    print_causes(&s);
    print_verdict(&s);
    for (uint32_t v = 0; v < JUDGE_VERDICTS; v++)
        all += s.verdicts[v];
    printf("%u passed, %u failed\n", all - s.failed, s.failed);
    return s.failed > 0 || all == 0;
}
