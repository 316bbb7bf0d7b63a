#include "tests/harness/schema.h"

#include <string.h>

typedef struct {
    const dfl_json *root;
    dfl_strbuf *why;
} validator;

static bool validate(const validator *v, const dfl_json *schema, const dfl_json *value, const char *path);

static bool fail(const validator *v, const char *path, const char *what)
{
    dfl_strbuf_printf(v->why, "%s: %s", *path ? path : "/", what);
    return false;
}

static bool has_type(const dfl_json *value, const char *type)
{
    switch (value->kind) {
    case DFL_JSON_NULL: return strcmp(type, "null") == 0;
    case DFL_JSON_BOOL: return strcmp(type, "boolean") == 0;
    case DFL_JSON_INT:
    case DFL_JSON_BIG: return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case DFL_JSON_REAL: return strcmp(type, "number") == 0;
    case DFL_JSON_STRING: return strcmp(type, "string") == 0;
    case DFL_JSON_ARRAY: return strcmp(type, "array") == 0;
    case DFL_JSON_OBJECT: return strcmp(type, "object") == 0;
    }
    return false;
}

static bool type_matches(const dfl_json *types, const dfl_json *value)
{
    if (types->kind == DFL_JSON_STRING)
        return has_type(value, types->text);
    for (size_t i = 0; i < types->len; i++)
        if (has_type(value, types->items[i].text))
            return true;
    return false;
}

static bool same_text(const dfl_json *a, const dfl_json *b)
{
    return a->kind == DFL_JSON_STRING && b->kind == DFL_JSON_STRING && strcmp(a->text, b->text) == 0;
}

static const char *below(const validator *v, const char *path, const char *key, size_t index)
{
    return key ? dfl_arena_printf(v->why->arena, "%s/%s", path, key)
               : dfl_arena_printf(v->why->arena, "%s/%zu", path, index);
}

static bool validate_object(const validator *v, const dfl_json *schema, const dfl_json *value, const char *path)
{
    const dfl_json *properties = dfl_json_get(schema, "properties"), *required = dfl_json_get(schema, "required");
    const dfl_json *others = dfl_json_get(schema, "additionalProperties");

    for (size_t i = 0; required && i < required->len; i++)
        if (!dfl_json_get(value, required->items[i].text))
            return fail(v, below(v, path, required->items[i].text, 0), "missing");
    for (size_t i = 0; i < value->len; i++) {
        const dfl_json *part = dfl_json_get(properties, value->keys[i]);

        if (!part)
            part = others;
        if (!part)
            continue;
        if (part->kind == DFL_JSON_BOOL && !part->boolean)
            return fail(v, below(v, path, value->keys[i], 0), "not in the schema");
        if (part->kind == DFL_JSON_OBJECT && !validate(v, part, &value->items[i], below(v, path, value->keys[i], 0)))
            return false;
    }
    return true;
}

static bool validate_enum(const validator *v, const dfl_json *all, const dfl_json *value, const char *path)
{
    for (size_t i = 0; i < all->len; i++)
        if (same_text(&all->items[i], value))
            return true;
    return fail(v, path, "not one of the enumerated values");
}

static bool validate(const validator *v, const dfl_json *schema, const dfl_json *value, const char *path)
{
    static const char *const known[] = { "$schema", "$id", "$defs", "title", "description", "type", "const", "enum",
                                         "properties", "required", "additionalProperties", "items", "minimum" };
    const dfl_json *ref = dfl_json_get(schema, "$ref"), *part;

    if (ref) {
        static const char prefix[] = "#/$defs/";

        if (strncmp(ref->text, prefix, sizeof prefix - 1) != 0 || schema->len != 1)
            return fail(v, path, "the validator knows only a lone $ref into $defs");
        part = dfl_json_get(dfl_json_get(v->root, "$defs"), ref->text + sizeof prefix - 1);
        return part ? validate(v, part, value, path) : fail(v, path, "the schema refers to nothing");
    }
    for (size_t i = 0; i < schema->len; i++) {
        bool found = false;

        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            found |= strcmp(schema->keys[i], known[k]) == 0;
        if (!found)
            return fail(v, path, "the schema uses a keyword that the validator does not know");
    }
    part = dfl_json_get(schema, "type");
    if (part && !type_matches(part, value))
        return fail(v, path, "wrong type");
    part = dfl_json_get(schema, "const");
    if (part && !same_text(part, value))
        return fail(v, path, "not the constant");
    part = dfl_json_get(schema, "enum");
    if (part && !validate_enum(v, part, value, path))
        return false;
    part = dfl_json_get(schema, "minimum");
    if (part && (value->kind == DFL_JSON_INT || value->kind == DFL_JSON_BIG || value->kind == DFL_JSON_REAL) &&
        value->real < part->real)
        return fail(v, path, "below the minimum");
    if (value->kind == DFL_JSON_OBJECT && !validate_object(v, schema, value, path))
        return false;
    part = dfl_json_get(schema, "items");
    for (size_t i = 0; part && value->kind == DFL_JSON_ARRAY && i < value->len; i++)
        if (!validate(v, part, &value->items[i], below(v, path, NULL, i)))
            return false;
    return true;
}

bool check_schema(const dfl_json *schema, const dfl_json *value, dfl_strbuf *why)
{
    const validator v = { schema, why };

    return validate(&v, schema, value, "");
}
