/* YAML files as the trees of support/json.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "tests/timeloop/peer.h"

enum { DEEPEST = 64 };

static char *text_of(dfl_arena *arena, struct fy_node *node, size_t *len)
{
    const char *text = fy_node_get_scalar(node, len);

    return dfl_arena_copy(arena, text ? text : "", text ? *len : (*len = 0));
}

/* A scalar that is written without quotes may be a number or a truth value. */
static dfl_json scalar_of(dfl_arena *arena, struct fy_node *node)
{
    dfl_json out = { .kind = DFL_JSON_STRING };
    char *text = text_of(arena, node, &out.len), *end;

    out.text = text;
    if (fy_node_get_style(node) != FYNS_PLAIN || out.len == 0)
        return out;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        out.kind = DFL_JSON_BOOL;
        out.boolean = text[0] == 't';
        return out;
    }
    errno = 0;
    out.integer = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0) {
        out.kind = DFL_JSON_INT;
        out.real = (double)out.integer;
        return out;
    }
    out.real = strtod(text, &end);
    if (*end == '\0')
        out.kind = DFL_JSON_REAL;
    return out;
}

static dfl_json tree_of(dfl_arena *arena, struct fy_node *node, unsigned depth)
{
    dfl_json out = { .kind = DFL_JSON_NULL };
    bool mapping = node && fy_node_is_mapping(node);
    dfl_json *items;
    void *at = NULL;

    if (!node || depth > DEEPEST)
        return out;
    if (fy_node_is_scalar(node))
        return scalar_of(arena, node);
    out.kind = mapping ? DFL_JSON_OBJECT : DFL_JSON_ARRAY;
    out.len = (size_t)(mapping ? fy_node_mapping_item_count(node) : fy_node_sequence_item_count(node));
    out.items = items = DFL_NEW_ARRAY(arena, dfl_json, out.len + 1);
    out.keys = DFL_NEW_ARRAY(arena, const char *, out.len + 1);
    for (size_t i = 0; i < out.len; i++) {
        size_t len;
        if (mapping) {
            struct fy_node_pair *pair = fy_node_mapping_iterate(node, &at);
            out.keys[i] = text_of(arena, fy_node_pair_key(pair), &len);
            items[i] = tree_of(arena, fy_node_pair_value(pair), depth + 1);
        } else {
            items[i] = tree_of(arena, fy_node_sequence_iterate(node, &at), depth + 1);
        }
    }
    return out;
}

const dfl_json *peer_yaml(dfl_arena *arena, const char *path)
{
    struct fy_document *document = fy_document_build_from_file(NULL, path);
    dfl_json *out;

    if (!document)
        return NULL;
    out = DFL_NEW(arena, dfl_json);
    *out = tree_of(arena, fy_document_root(document), 0);
    fy_document_destroy(document);
    return out;
}
