#include "ir/print_check.h"

#include "ir/unit_text.h"

static void print_val(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v, bool exact);

static void print_args(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v, bool exact)
{
    dfl_strbuf_char(out, '(');
    for (uint32_t i = 0; i < v->n_args; i++) {
        if (i > 0)
            dfl_strbuf_z(out, ", ");
        print_val(out, names, v->args[i], exact);
    }
    dfl_strbuf_char(out, ')');
}

static void print_val(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v, bool exact)
{
    static const char *const signs[] = {
        [DFL_VAL_ADD] = " + ", [DFL_VAL_SUB] = " - ", [DFL_VAL_MUL] = " * ", [DFL_VAL_DIV] = " / ",
        [DFL_VAL_LT] = " < ",  [DFL_VAL_GT] = " > ",  [DFL_VAL_LE] = " <= ", [DFL_VAL_GE] = " >= ",
        [DFL_VAL_EQ] = " == ", [DFL_VAL_NE] = " != ", [DFL_VAL_AND] = " && ", [DFL_VAL_OR] = " || ",
    };

    if (v->kind == DFL_VAL_QUANTITY && exact) {
        dfl_quantity_write(out, v->quantity);
    } else if (v->kind == DFL_VAL_QUANTITY) {
        dfl_quantity_print(out, v->quantity);
    } else if (v->kind == DFL_VAL_STRING) {
        dfl_strbuf_printf(out, "\"%s\"", dfl_sym_text(names, v->text));
    } else if (v->kind == DFL_VAL_PATH || v->kind == DFL_VAL_CALL) {
        dfl_strbuf_z(out, dfl_sym_text(names, v->text));
        for (uint32_t i = 0; i < v->n_path; i++) {
            dfl_strbuf_z(out, i > 0 ? "." : "");
            dfl_strbuf_z(out, dfl_sym_text(names, v->path[i]));
        }
        if (v->kind == DFL_VAL_CALL)
            print_args(out, names, v, exact);
    } else {
        dfl_strbuf_char(out, '(');
        if (v->kind == DFL_VAL_NEG)
            dfl_strbuf_char(out, '-');
        for (uint32_t i = 0; i < v->n_args; i++) {
            if (i > 0)
                dfl_strbuf_z(out, signs[v->kind]);
            print_val(out, names, v->args[i], exact);
        }
        dfl_strbuf_char(out, ')');
    }
}

void dfl_val_print(dfl_strbuf *out, const dfl_intern *names, const dfl_val *v)
{
    print_val(out, names, v, false);
}

static void print_check(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c, bool exact)
{
    static const char *const words[] = { "require ", "expect ", "assume " };

    dfl_strbuf_z(out, words[c->kind]);
    print_val(out, names, c->expr, exact);
    if (c->exactly != NULL) {
        dfl_strbuf_z(out, " exactly ");
        print_val(out, names, c->exactly, exact);
    }
    if (c->within != NULL) {
        dfl_strbuf_z(out, " within ");
        print_val(out, names, c->within, exact);
        dfl_strbuf_z(out, " of ");
        print_val(out, names, c->of, exact);
    }
    if (c->source != 0)
        dfl_strbuf_printf(out, " from \"%s\"", dfl_sym_text(names, c->source));
    dfl_strbuf_z(out, ";");
}

void dfl_check_write(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c)
{
    print_check(out, names, c, true);
    dfl_strbuf_char(out, '\n');
}

void dfl_check_print(dfl_strbuf *out, const dfl_intern *names, const dfl_check *c)
{
    print_check(out, names, c, false);
    if (c->scope != 0)
        dfl_strbuf_printf(out, "  // in %s", dfl_sym_text(names, c->scope));
    dfl_strbuf_char(out, '\n');
}
