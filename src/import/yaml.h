/*
 * YAML files as trees with places. Every node knows where in the source it stands, so that importers can point at
 * what they do not understand. Tags lose their exclamation mark (`!Memory` is "Memory"); a plain scalar keeps its
 * text as written, and an importer decides what it means. Anchors, aliases and further documents are not taken.
 */
#ifndef DFL_IMPORT_YAML_H
#define DFL_IMPORT_YAML_H

#include "import/losses.h"

typedef enum { DFL_YAML_SCALAR, DFL_YAML_LIST, DFL_YAML_MAP } dfl_yaml_kind;

typedef struct dfl_yaml {
    dfl_yaml_kind kind;
    const char *tag;              /* "" = none */
    const char *text;             /* scalar; "" for a null */
    dfl_span span;                /* scalar: its text; list, map: the tag, or the first thing inside */
    uint32_t n;
    const struct dfl_yaml *items; /* list: items; map: values */
    const struct dfl_yaml *keys;  /* map: scalars, no two alike */
} dfl_yaml;

/* The file's document, in the arena of the report; NULL after reporting E0701 or a stopped budget. */
const dfl_yaml *dfl_yaml_parse(dfl_loss_report *report, const dfl_source *source);
/* Value of a key; NULL when `map` is NULL, no map, or lacks it. */
const dfl_yaml *dfl_yaml_get(const dfl_yaml *map, const char *key);
/* Writes the node on one line, safe inside a comment. */
void dfl_yaml_flow(dfl_arena *arena, const dfl_yaml *at, dfl_strbuf *out);

#endif
