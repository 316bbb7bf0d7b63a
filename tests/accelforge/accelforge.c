/*
 * accelforge DIR [-v]: imports every case of DIR/model and DIR/fuzz, evaluates it, and compares actions by component
 * and tensor, dynamic energy, latency, room and leakage with what AccelForge reported; then the mappings that its
 * mapper found for the cases of DIR/mapper, of which it reports energy and latency. Ends with `N passed, N failed`.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accelforge/judge.h"

enum { LONGEST_PATH = 4096 };

typedef struct {
    bool say;
    uint32_t verdicts[VERDICTS], cases, numbers, different, failed, all;
    uint32_t perfect, counts, energy, latency, room; /* cases: with perfect factors; with all numbers of the kind equal */
    struct { uint32_t cases, numbers; } causes[CAUSE_COUNT];
    char names[CAUSE_COUNT][1024];
} summary;

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);

    *len = file != NULL && text != NULL ? fread(text, 1, 1 << 20, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

static void add(summary *s, const char *name, const judge_result *r)
{
    bool compared = r->verdict != VERDICT_REFUSED && r->verdict != VERDICT_BROKEN;

    s->cases++;
    s->verdicts[r->verdict]++;
    s->numbers += r->numbers;
    s->different += r->different;
    s->perfect += compared && r->perfect;
    s->counts += compared && r->perfect && r->counts;
    s->energy += compared && r->perfect && r->energy;
    s->latency += compared && r->perfect && r->latency;
    s->room += compared && r->perfect && r->room;
    for (uint32_t c = 0; c < CAUSE_COUNT; c++) {
        size_t len = strlen(s->names[c]);

        s->causes[c].numbers += r->by_cause[c];
        s->causes[c].cases += r->causes >> c & 1;
        if (r->causes >> c & 1)
            snprintf(s->names[c] + len, sizeof s->names[c] - len, " %.4s", name);
    }
    if (r->verdict == VERDICT_UNEXPLAINED || r->verdict == VERDICT_BROKEN) {
        printf("FAILED: %s: %s\n", name, r->why.text);
        s->failed++;
    }
}

static void judge_directory(summary *s, const char *root, const char *directory)
{
    char path[LONGEST_PATH], mapping[LONGEST_PATH];
    struct dirent **entries = NULL;
    int n;

    snprintf(path, sizeof path, "%s/%s", root, directory);
    n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *dot = strstr(entries[i]->d_name, ".expected.json");
        dfl_arena *arena = dfl_arena_new(NULL);
        judge_result r;
        char name[256];
        size_t len;
        char *text;

        if (dot != NULL) {
            snprintf(name, sizeof name, "%.*s", (int)(dot - entries[i]->d_name), entries[i]->d_name);
            snprintf(path, sizeof path, "%s/%s/%s.expected.json", root, directory, name);
            text = read_file(path, &len);
            snprintf(path, sizeof path, "%s/%s/%s.yaml", root, directory, name);
            if (s->say)
                printf("%s\n", name);
            snprintf(mapping, sizeof mapping, "%s/%s/%s.mapping.yaml", root, directory, name);
            judge_case(path, strcmp(directory, "mapper") == 0 ? mapping : NULL,
                       dfl_json_parse(arena, text, len, NULL), s->say, &r);
            add(s, name, &r);
            free(text);
        }
        dfl_arena_free(arena);
        free(entries[i]);
    }
    free(entries);
}

/* Prints the table and starts a new one. */
static void report(summary *s, const char *what)
{
    printf("%s\n%-72s %6s %8s\n", what, "the peer ...", "cases", "numbers");
    for (uint32_t c = 0; c < CAUSE_COUNT; c++) {
        if (s->causes[c].cases > 0)
            printf("  %-70s %6u %8u\n    %s\n", judge_cause_text(c), s->causes[c].cases,
                   s->causes[c].numbers, s->names[c]);
    }
    printf("perfect factors: counts of %u, dynamic energy of %u, latency of %u, room of %u out of %u cases equal\n",
           s->counts, s->energy, s->latency, s->room, s->perfect);
    printf("%u numbers compared, %u differ; refused by both, or impossible and refused: %u\n", s->numbers, s->different,
           s->verdicts[VERDICT_REFUSED]);
    printf("%u of %u cases equal, %u explained, %u unexplained, %u broken\n",
           s->verdicts[VERDICT_EQUAL] + s->verdicts[VERDICT_REFUSED], s->cases, s->verdicts[VERDICT_EXPLAINED],
           s->verdicts[VERDICT_UNEXPLAINED], s->verdicts[VERDICT_BROKEN]);
    *s = (summary){ .say = s->say, .all = s->all + s->cases, .failed = s->failed };
}

int main(int argc, char **argv)
{
    summary s = { .say = argc > 2 && strcmp(argv[2], "-v") == 0 };

    if (argc < 2) {
        fprintf(stderr, "usage: accelforge DIR [-v]\n");
        return 2;
    }
    judge_directory(&s, argv[1], "model");
    judge_directory(&s, argv[1], "fuzz");
    report(&s, "fixed mappings");
    judge_directory(&s, argv[1], "mapper");
    report(&s, "mappings that the peer's mapper found: energy and latency");
    printf("%u passed, %u failed\n", s.all - s.failed, s.failed);
    return s.failed > 0 || s.all == 0;
}
