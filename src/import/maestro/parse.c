/*
 * A recursive descent parser for mapping files of MAESTRO. It reports the first mistake of a layer and skips the rest of the
 * layer, so that each broken layer gives one message.
 */
#include <string.h>

#include "import/maestro/maestro_internal.h"

typedef struct {
    dfl_maestro_lexer lexer;
    dfl_maestro_token token; /* the present token */
    dfl_arena *arena;
    dfl_loss_report *report;
    dfl_maestro_file *file;
    uint32_t last_end; /* end of the word before `token` */
    bool failed;
} parser;

static void advance(parser *p)
{
    p->last_end = p->token.span.end;
    p->token = dfl_maestro_next(&p->lexer);
}

static bool alive(const parser *p)
{
    dfl_budget *budget = dfl_arena_budget(p->arena);

    return budget == NULL || dfl_budget_ok(budget);
}

/* Messages quote at most this many bytes of a word. */
static int shown(const dfl_maestro_token *t)
{
    return t->len > 40 ? 40 : (int)t->len;
}

static bool expected(parser *p, const char *what)
{
    const dfl_maestro_token *t = &p->token;

    if (t->kind == DFL_MAESTRO_END)
        dfl_report(p->report->sink, DFL_FOREIGN_SYNTAX, t->span, "expected %s, found the end of the file",
                   what);
    else
        dfl_report(p->report->sink, DFL_FOREIGN_SYNTAX, t->span, "expected %s, found `%.*s`", what,
                   shown(t), t->text);
    p->failed = true;
    return false;
}

static bool open_brace(parser *p, const char *after)
{
    if (p->token.kind != DFL_MAESTRO_OPEN)
        return expected(p, dfl_arena_printf(p->arena, "`{` after `%s`", after));
    advance(p);
    return true;
}

static bool is_number(const dfl_maestro_token *t)
{
    return t->kind == DFL_MAESTRO_WORD && t->len > 0 && t->text[0] >= '0' && t->text[0] <= '9';
}

static bool parse_dim(parser *p, dfl_maestro_dim *out)
{
    for (int d = 0; d < DFL_DIM_COUNT; d++) {
        if (dfl_maestro_is(&p->token, dfl_maestro_dim_text((dfl_maestro_dim)d))) {
            *out = (dfl_maestro_dim)d;
            advance(p);
            return true;
        }
    }
    if (p->token.kind == DFL_MAESTRO_WORD) {
        dfl_diag *d = dfl_report(p->report->sink, DFL_FOREIGN_DIMENSION, p->token.span,
                                 "unknown dimension `%.*s`", shown(&p->token), p->token.text);

        dfl_diag_help(p->report->sink, d,
                      "dimensions are N, G, K, C, R, S, Y, X, Y', X' and, of a GEMM, M, N, K");
        p->failed = true;
        return false;
    }
    return expected(p, "a dimension");
}

static bool parse_amount(parser *p, dfl_maestro_amount *out)
{
    dfl_span start = p->token.span;

    *out = (dfl_maestro_amount){ .span = start };
    if (dfl_maestro_is(&p->token, "Sz")) {
        out->kind = DFL_AMOUNT_SIZE_OF;
        advance(p);
        if (!parse_dim(p, &out->dim))
            return false;
        out->span.end = p->last_end;
        return true;
    }
    if (p->token.kind != DFL_MAESTRO_WORD)
        return expected(p, "a number, a constant or `Sz(...)`");
    if (is_number(&p->token)) {
        out->kind = DFL_AMOUNT_NUMBER;
        if (!dfl_maestro_number(p->report, &p->token, &out->value)) {
            p->failed = true;
            return false;
        }
    } else {
        out->kind = DFL_AMOUNT_CONSTANT;
        out->constant = dfl_intern_text(p->file->names, p->token.text, p->token.len);
    }
    advance(p);
    return true;
}

static bool same_amount(const dfl_maestro_amount *a, const dfl_maestro_amount *b)
{
    return a->kind == b->kind && a->value == b->value && a->constant == b->constant && a->dim == b->dim;
}

/* Sets a size; a dimension may be given twice with equal amounts. */
static bool parse_size(parser *p, dfl_maestro_size sizes[DFL_DIM_COUNT], const char *block)
{
    dfl_maestro_size size = { .given = true, .span = p->token.span }, *slot;
    dfl_maestro_dim dim;
    dfl_diag *d;

    if (!parse_dim(p, &dim) || !parse_amount(p, &size.amount))
        return false;
    slot = &sizes[dim];
    if (slot->given && same_amount(&slot->amount, &size.amount)) {
        dfl_lose(p->report, DFL_FOREIGN_IGNORED, size.span, "`%s` is given twice in `%s`",
                 dfl_maestro_dim_text(dim), block);
    } else if (slot->given) {
        d = dfl_report(p->report->sink, DFL_FOREIGN_DIMENSION, size.span, "`%s` has two values in `%s`",
                       dfl_maestro_dim_text(dim), block);
        dfl_diag_label(p->report->sink, d, slot->span, "first given here");
        p->failed = true;
        return false;
    }
    *slot = size;
    return true;
}

static bool parse_sizes(parser *p, dfl_maestro_size sizes[DFL_DIM_COUNT], const char *block)
{
    if (!open_brace(p, block))
        return false;
    while (p->token.kind != DFL_MAESTRO_CLOSE) {
        if (!alive(p) || !parse_size(p, sizes, block))
            return false;
    }
    advance(p);
    return true;
}

typedef DFL_VEC(dfl_maestro_directive) directives;

static bool parse_directive(parser *p, directives *out)
{
    dfl_maestro_directive d = { .span = p->token.span };

    if (dfl_maestro_is(&p->token, "TemporalMap"))
        d.kind = DFL_DIRECTIVE_TEMPORAL;
    else if (dfl_maestro_is(&p->token, "SpatialMap"))
        d.kind = DFL_DIRECTIVE_SPATIAL;
    else if (dfl_maestro_is(&p->token, "Cluster"))
        d.kind = DFL_DIRECTIVE_CLUSTER;
    else
        return expected(p, "`TemporalMap`, `SpatialMap`, `Cluster` or `}`");
    advance(p);
    if (!parse_amount(p, &d.size))
        return false;
    if (d.kind == DFL_DIRECTIVE_CLUSTER) {
        if (!dfl_maestro_is(&p->token, "P") && !dfl_maestro_is(&p->token, "L"))
            return expected(p, "the kind of the cluster, `P` or `L`");
        advance(p);
    } else {
        if (!parse_amount(p, &d.offset))
            return false;
        d.dim_span = p->token.span;
        if (!parse_dim(p, &d.dim))
            return false;
    }
    d.span.end = p->last_end;
    DFL_PUSH(p->arena, out, d);
    return true;
}

static bool parse_dataflow(parser *p, dfl_maestro_layer *layer)
{
    directives all = { 0 };

    if (!open_brace(p, "Dataflow"))
        return false;
    while (p->token.kind != DFL_MAESTRO_CLOSE) {
        if (!alive(p) || !parse_directive(p, &all))
            return false;
    }
    advance(p);
    layer->directives = all.n > 0 ? all.at : DFL_NEW(p->arena, dfl_maestro_directive);
    layer->n_directives = all.n;
    return true;
}

static bool parse_type(parser *p, dfl_maestro_layer *layer)
{
    static const struct {
        const char *word;
        dfl_layer_type type;
    } types[] = {
        { "CONV", DFL_LAYER_CONV },     { "DSCONV", DFL_LAYER_DSCONV }, { "NGCONV", DFL_LAYER_NGCONV },
        { "TRCONV", DFL_LAYER_TRCONV }, { "GEMM", DFL_LAYER_GEMM },
    };

    if (p->token.kind != DFL_MAESTRO_WORD)
        return expected(p, "a type of layer");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (dfl_maestro_is(&p->token, types[i].word)) {
            layer->type = types[i].type;
            layer->type_span = p->token.span;
            advance(p);
            return true;
        }
    }
    dfl_diag_help(p->report->sink,
                  dfl_report(p->report->sink, DFL_FOREIGN_LAYER_TYPE, p->token.span,
                             "unknown type of layer `%.*s`", shown(&p->token), p->token.text),
                  "types are CONV, DSCONV, NGCONV, TRCONV and GEMM");
    p->failed = true;
    return false;
}

enum { HAS_TYPE = 1, HAS_STRIDE = 2, HAS_DIMENSIONS = 4, HAS_DATAFLOW = 8 };

/* Parses one block of a layer; `seen` is the set of blocks so far. */
static bool parse_block(parser *p, dfl_maestro_layer *layer, unsigned *seen)
{
    static const struct {
        const char *word;
        unsigned bit;
    } blocks[] = {
        { "Type", HAS_TYPE },
        { "Stride", HAS_STRIDE },
        { "Dimensions", HAS_DIMENSIONS },
        { "Dataflow", HAS_DATAFLOW },
    };

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        if (!dfl_maestro_is(&p->token, blocks[i].word))
            continue;
        if (*seen & blocks[i].bit) {
            dfl_report(p->report->sink, DFL_FOREIGN_SYNTAX, p->token.span, "`%s` is given twice in one layer",
                       blocks[i].word);
            p->failed = true;
            return false;
        }
        *seen |= blocks[i].bit;
        advance(p);
        switch (blocks[i].bit) {
        case HAS_TYPE:
            return parse_type(p, layer);
        case HAS_STRIDE:
            return parse_sizes(p, layer->strides, "Stride");
        case HAS_DIMENSIONS:
            return parse_sizes(p, layer->dims, "Dimensions");
        default:
            return parse_dataflow(p, layer);
        }
    }
    return expected(p, "`Type`, `Stride`, `Dimensions`, `Dataflow` or `}`");
}

/* Gives a layer without a dataflow the directives of the layer before it. */
static bool inherit(parser *p, dfl_maestro_layer *layer)
{
    const dfl_maestro_layer *before = p->file->layers.n > 0 ? &p->file->layers.at[p->file->layers.n - 1]
                                                            : NULL;

    if (before == NULL) {
        dfl_diag_help(p->report->sink,
                      dfl_report(p->report->sink, DFL_FOREIGN_SYNTAX, layer->name_span,
                                 "the layer has no dataflow, and there is none before it to inherit"),
                      "add a `Dataflow { ... }` block");
        p->failed = true;
        return false;
    }
    layer->directives = before->directives;
    layer->n_directives = before->n_directives;
    layer->inherited = true;
    return true;
}

static bool parse_layer(parser *p)
{
    dfl_maestro_layer layer = { .name = "", .name_span = p->token.span };
    unsigned seen = 0;

    advance(p);
    if (p->token.kind == DFL_MAESTRO_WORD) {
        layer.name = dfl_arena_copy(p->arena, p->token.text, p->token.len);
        layer.name_span = p->token.span;
        advance(p);
    }
    if (!open_brace(p, "Layer"))
        return false;
    while (p->token.kind != DFL_MAESTRO_CLOSE) {
        if (!alive(p) || !parse_block(p, &layer, &seen))
            return false;
    }
    if (!(seen & HAS_TYPE))
        return expected(p, "`Type`");
    if (!(seen & HAS_DIMENSIONS))
        return expected(p, "`Dimensions`");
    advance(p);
    if (!(seen & HAS_DATAFLOW) && !inherit(p, &layer))
        return false;
    DFL_PUSH(p->arena, &p->file->layers, layer);
    return true;
}

/* Skips to the next word that starts a layer or another block, or to the end. */
static void recover(parser *p)
{
    while (p->token.kind != DFL_MAESTRO_END && !dfl_maestro_is(&p->token, "Layer") &&
           !dfl_maestro_is(&p->token, "Network") && !dfl_maestro_is(&p->token, "Constant") && alive(p))
        advance(p);
}

static void parse_network(parser *p)
{
    advance(p);
    if (p->token.kind == DFL_MAESTRO_WORD) {
        if (p->file->network[0] == '\0')
            p->file->network = dfl_arena_copy(p->arena, p->token.text, p->token.len);
        advance(p);
    }
    if (!open_brace(p, "Network"))
        return;
    while (p->token.kind != DFL_MAESTRO_CLOSE && alive(p)) {
        if (dfl_maestro_is(&p->token, "Layer")) {
            if (!parse_layer(p))
                recover(p);
        } else {
            if (!p->failed || p->token.kind == DFL_MAESTRO_END)
                expected(p, "`Layer` or `}`");
            recover(p);
        }
        if (p->token.kind == DFL_MAESTRO_END || dfl_maestro_is(&p->token, "Network") ||
            dfl_maestro_is(&p->token, "Constant")) {
            if (!p->failed)
                expected(p, "`Layer` or `}`");
            return;
        }
    }
    advance(p);
}

/* The entry of a constant, made on first use. */
static dfl_maestro_constant *constant_slot(parser *p, dfl_sym name)
{
    while (p->file->constants.n <= name) {
        dfl_maestro_constant none = { 0 };

        DFL_PUSH(p->arena, &p->file->constants, none);
    }
    return &p->file->constants.at[name];
}

static void parse_constant(parser *p)
{
    dfl_maestro_constant c = { 0 }, *slot;
    dfl_sym name;

    advance(p);
    if (p->token.kind != DFL_MAESTRO_WORD || is_number(&p->token)) {
        expected(p, "the name of the constant");
        return;
    }
    name = dfl_intern_text(p->file->names, p->token.text, p->token.len);
    c.span = p->token.span;
    advance(p);
    if (!dfl_maestro_number(p->report, &p->token, &c.value)) {
        p->failed = true;
        return;
    }
    advance(p);
    slot = constant_slot(p, name);
    if (slot->value != 0) {
        dfl_diag *d = dfl_report(p->report->sink, DFL_FOREIGN_SYNTAX, c.span,
                                 "the constant `%s` is given two values", dfl_sym_text(p->file->names, name));

        dfl_diag_label(p->report->sink, d, slot->span, "first given here");
        p->failed = true;
        return;
    }
    *slot = c;
}

/* Skips a block without meaning for mappings, up to its closing brace. */
static void skip_block(parser *p)
{
    size_t depth = 0;

    do {
        if (p->token.kind == DFL_MAESTRO_OPEN)
            depth++;
        else if (p->token.kind == DFL_MAESTRO_CLOSE && depth > 0)
            depth--;
        advance(p);
    } while (depth > 0 && p->token.kind != DFL_MAESTRO_END && alive(p));
}

bool dfl_maestro_parse(dfl_maestro_file *out, dfl_arena *arena, dfl_loss_report *report,
                       const dfl_source *source)
{
    parser p = { .lexer = { source, 0 }, .arena = arena, .report = report, .file = out };

    *out = (dfl_maestro_file){ .source = source, .names = dfl_intern_new(arena), .network = "" };
    advance(&p);
    while (p.token.kind != DFL_MAESTRO_END && alive(&p)) {
        if (dfl_maestro_is(&p.token, "Network")) {
            parse_network(&p);
        } else if (dfl_maestro_is(&p.token, "Constant")) {
            parse_constant(&p);
        } else if (dfl_maestro_is(&p.token, "Accelerator")) {
            dfl_lose(report, DFL_FOREIGN_IGNORED, p.token.span,
                     "`Accelerator` is omitted: give a hardware file");
            advance(&p);
            if (p.token.kind == DFL_MAESTRO_WORD)
                advance(&p);
            skip_block(&p);
        } else {
            if (!p.failed)
                expected(&p, "`Network` or `Constant`");
            advance(&p);
        }
    }
    if (!p.failed && out->layers.n == 0) {
        dfl_report(report->sink, DFL_FOREIGN_SYNTAX, p.token.span, "the file has no layer");
        p.failed = true;
    }
    return !p.failed && alive(&p);
}
