/*
 * YAML files as trees. Each node has its place in the source, for diagnostics. Tags lose their exclamation mark: `!Memory`
 * is "Memory". A plain scalar keeps its text as written; the importer interprets the text. An alias is the node that it
 * stands for. A map with the key `<<` or `<<<` has the keys of the map behind it, or of each map of a list, that it lacks;
 * with `<<<`, a map under a key of both has the keys of both, likewise. A file without a node is a null scalar.
 */
#ifndef DFL_IMPORT_YAML_H
#define DFL_IMPORT_YAML_H

#include "import/losses.h"

typedef enum { DFL_YAML_SCALAR, DFL_YAML_LIST, DFL_YAML_MAP } dfl_yaml_kind;

typedef struct dfl_yaml {
    dfl_yaml_kind kind;
    const char *tag;              /* "" = none */
    const char *text;             /* text of a scalar, "" for null; unused in lists and maps */
    dfl_span span;                /* place of a scalar; of a list or map, the place of its tag or of its first item */
    uint32_t n;
    const struct dfl_yaml *items; /* items of a list, values of a map */
    const struct dfl_yaml *keys;  /* keys of a map: scalars, all different; as many as `items` */
    bool anchored;                /* the node, or one in it, has an anchor: it may be there for aliases alone */
} dfl_yaml;

/* The file's document, in the arena of the report; NULL after reporting E0701 or a stopped budget. */
const dfl_yaml *dfl_yaml_parse(dfl_loss_report *report, const dfl_source *source);
/* Whether the node is null: nothing, `null`, `Null`, `NULL`, `~`, or the `None` of Python. */
bool dfl_yaml_is_null(const dfl_yaml *at);
/* Value of a key; NULL when `map` is NULL, is not a map, or lacks the key. */
const dfl_yaml *dfl_yaml_get(const dfl_yaml *map, const char *key);
/* Writes the node on one line, safe inside a comment. */
void dfl_yaml_flow(dfl_arena *arena, const dfl_yaml *at, dfl_strbuf *out);

#endif
