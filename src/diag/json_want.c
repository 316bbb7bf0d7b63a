#include "diag/json_want.h"

void dfl_json_refuse(dfl_json_wanting *r, const char *key, const char *why)
{
    if (r->ok)
        dfl_report(r->sink, r->code, (dfl_span){ 0, 0 }, "`%s` %s: `%s` %s", r->file, r->is, key, why);
    r->ok = false;
}

const dfl_json *dfl_json_want(dfl_json_wanting *r, const dfl_json *object, const char *key, dfl_json_kind kind,
                              const char *why)
{
    const dfl_json *value = dfl_json_get(object, key);

    if (value && value->kind == kind)
        return value;
    dfl_json_refuse(r, key, value ? why : "is missing");
    return NULL;
}

const char *dfl_json_want_text(dfl_json_wanting *r, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_want(r, object, key, DFL_JSON_STRING, "is not a text");

    return value ? value->text : "";
}
