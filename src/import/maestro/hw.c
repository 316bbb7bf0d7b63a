/* Reads hardware files of MAESTRO: entries `key: number` in any order. */
#include <stddef.h>

#include "import/maestro/maestro_internal.h"

enum { DEFAULT_PES = 256, DEFAULT_LANES = 1 }; /* defaults of MAESTRO: processing elements; MACs per element and cycle */

typedef struct {
    const char *key;
    size_t field; /* offset of the int64_t in dfl_maestro_hw */
} hw_key;

#define FIELD(name) offsetof(dfl_maestro_hw, name)

static const hw_key keys[] = {
    { "num_pes", FIELD(pes) },
    { "num_simd_lanes", FIELD(lanes) },
    { "noc_bw_cstr", FIELD(noc_bandwidth) },
    { "noc_bw", FIELD(noc_bandwidth) },
    { "offchip_bw_cstr", FIELD(offchip_bandwidth) },
    { "offchip_bw", FIELD(offchip_bandwidth) },
    { "NoC_NumHops", FIELD(noc_latency) },
    { "noc_hops", FIELD(noc_latency) },
    { "noc_num_hops", FIELD(noc_latency) },
    { "l1_size_cstr", FIELD(l1_size) },
    { "l2_size_cstr", FIELD(l2_size) },
};

enum { N_KEYS = sizeof keys / sizeof keys[0] };

static bool set_field(dfl_maestro_hw *hw, dfl_loss_report *report, const hw_key *key,
                const dfl_maestro_token *name, const dfl_maestro_token *value, dfl_span seen[N_KEYS])
{
    size_t i = (size_t)(key - keys);
    int64_t number;

    if (!dfl_maestro_number(report, value, &number))
        return false;
    if (seen[i].end != 0) {
        dfl_diag *d = dfl_report(report->sink, DFL_FOREIGN_SYNTAX, name->span, "`%s` is given twice",
                                 key->key);

        dfl_diag_label(report->sink, d, seen[i], "first given here");
        return false;
    }
    seen[i] = name->span;
    *(int64_t *)(void *)((char *)hw + key->field) = number;
    return true;
}

bool dfl_maestro_parse_hw(dfl_maestro_hw *out, dfl_loss_report *report, const dfl_source *source)
{
    dfl_maestro_lexer lexer = { source, 0 };
    dfl_span seen[N_KEYS] = { { 0, 0 } };
    dfl_budget *budget = dfl_arena_budget(report->arena);

    *out = (dfl_maestro_hw){ .pes = DEFAULT_PES, .lanes = DEFAULT_LANES };
    if (source == NULL)
        return true;
    out->noc_latency = 1;
    for (;;) {
        dfl_maestro_token name = dfl_maestro_next(&lexer), value;
        const hw_key *key = NULL;

        if (name.kind == DFL_MAESTRO_END)
            return true;
        if (budget != NULL && !dfl_budget_ok(budget))
            return false;
        if (name.kind != DFL_MAESTRO_WORD) {
            dfl_report(report->sink, DFL_FOREIGN_SYNTAX, name.span, "expected `key: number`");
            return false;
        }
        value = dfl_maestro_next(&lexer);
        for (size_t i = 0; i < N_KEYS && key == NULL; i++)
            key = dfl_maestro_is(&name, keys[i].key) ? &keys[i] : NULL;
        if (key == NULL) {
            dfl_diag *d = dfl_lose(report, DFL_FOREIGN_IGNORED, name.span,
                                   "`%.*s` is omitted: unknown key", name.len > 40 ? 40 : (int)name.len,
                                   name.text);

            dfl_diag_help(report->sink, d,
                          "keys are num_pes, num_simd_lanes, noc_bw_cstr, offchip_bw_cstr, "
                          "NoC_NumHops, l1_size_cstr and l2_size_cstr");
        } else if (!set_field(out, report, key, &name, &value, seen)) {
            return false;
        }
    }
}
