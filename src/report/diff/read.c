/* Reading the results of a report. */
#include "report/diff/diff.h"

#include <math.h>
#include <string.h>

#include "diag/json_want.h"

typedef struct { dfl_arena *arena; dfl_json_wanting want; } reader;

/* The value of a key as a number; 0 after reporting. */
static double read_number(reader *r, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_get(object, key);

    if (value && (value->kind == DFL_JSON_REAL || value->kind == DFL_JSON_INT || value->kind == DFL_JSON_BIG))
        return value->real;
    dfl_json_refuse(&r->want, key, value ? "is not a number" : "is missing");
    return 0;
}

/* Reads a count with any number of digits; false beyond 128 bits, and for a negative number. */
static bool read_digits(const char *digits, dfl_i128 *out)
{
    bool bad = *digits == '-';

    *out = 0;
    for (; *digits && !bad; digits++)
        bad = dfl_mul(*out, 10, out) || dfl_add(*out, *digits - '0', out);
    return !bad;
}

/* The value of a key as a count; 0 after reporting. */
static dfl_i128 read_count(reader *r, const dfl_json *object, const char *key)
{
    const dfl_json *value = dfl_json_get(object, key);
    dfl_i128 big = 0;

    if (value && value->kind == DFL_JSON_INT && value->integer >= 0)
        return value->integer;
    if (!value || value->kind != DFL_JSON_BIG)
        dfl_json_refuse(&r->want, key, value ? "is not a count" : "is missing");
    else if (!read_digits(value->text, &big))
        dfl_json_refuse(&r->want, key, "is beyond 128 bits");
    return big;
}

/* Divides the joules of a tensor among its actions, in proportion to count times joules per bit. Derives the bits of an
   element from the total, and rounds a value near a whole number to that number, so that equal counts get equal joules.
   Rows of an `access` leave no whole number of bits for an element: refused. */
static void split_joules(reader *r, const char *memory, const dfl_json *actions, const dfl_json *tensor,
                         dfl_side_traffic *t)
{
    double read = read_number(r, dfl_json_get(actions, "read"), "joules_per_bit");
    double write = read_number(r, dfl_json_get(actions, "write"), "joules_per_bit");
    const dfl_json *drains = dfl_json_get(actions, "drain");
    double drain = drains != NULL ? read_number(r, drains, "joules_per_bit") : read, price[DFL_ACTIONS];
    double joules = read_number(r, tensor, "joules"), all = 0, bits;

    for (dfl_action a = 0; a < DFL_ACTIONS; a++)
        price[a] = a == DFL_DRAIN ? drain : a < DFL_FILL ? read : write;
    for (dfl_action a = 0; a < DFL_ACTIONS; a++)
        all += dfl_i128_double(t->counts[a]) * price[a];
    bits = all > 0 ? joules / all : 0;
    if (fabs(bits - round(bits)) <= 1e-9 * bits)
        bits = round(bits);
    else if (r->want.ok) {
        dfl_report(r->want.sink, DFL_EVAL_UNSUPPORTED, (dfl_span){ 0, 0 }, "the energy of memory `%s` in `%s` is that of rows of "
                   "an `access`, which a difference does not divide among reads and writes", memory, r->want.file);
        r->want.ok = false;
    }
    for (dfl_action a = 0; a < DFL_ACTIONS; a++)
        t->joules[a] = dfl_i128_double(t->counts[a]) * bits * price[a];
}

static void read_memory(reader *r, const dfl_json *memory, const dfl_json *components, dfl_side_result *out)
{
    const dfl_side_memory one = { dfl_json_want_text(&r->want, memory, "name"), read_count(r, memory, "peak_bits") };
    const dfl_json *tensors = dfl_json_want(&r->want, memory, "tensors", DFL_JSON_OBJECT, "is not an object");
    const dfl_json *energy =
        r->want.ok ? dfl_json_want(&r->want, components, one.name, DFL_JSON_OBJECT, "is not an object") : NULL;

    DFL_PUSH(r->arena, &out->memories, one);
    for (size_t i = 0; r->want.ok && i < tensors->len; i++) {
        dfl_side_traffic t = { .memory = one.name, .tensor = tensors->keys[i] };

        for (dfl_action a = 0; a < DFL_ACTIONS; a++)
            t.counts[a] = read_count(r, &tensors->items[i], dfl_action_text(a));
        split_joules(r, one.name, dfl_json_get(energy, "actions"), &tensors->items[i], &t);
        DFL_PUSH(r->arena, &out->traffic, t);
    }
}

static void read_einsum(reader *r, const dfl_json *einsum, dfl_side_result *out)
{
    const dfl_side_einsum one = { .name = dfl_json_want_text(&r->want, einsum, "name"),
                                  .unit = dfl_json_want_text(&r->want, einsum, "unit"),
                                  .bound_by = dfl_json_want_text(&r->want, einsum, "bound_by"),
                                  .seconds = read_number(r, einsum, "seconds"),
                                  .joules = read_number(r, einsum, "joules"), .points = read_count(r, einsum, "points") };

    DFL_PUSH(r->arena, &out->einsums, one);
}

static void read_costs(reader *r, const dfl_json *result, dfl_side_result *out)
{
    const dfl_json *latency = dfl_json_get(result, "latency"), *energy = dfl_json_get(result, "energy");
    const dfl_json *operations = dfl_json_get(result, "operations"), *components = dfl_json_get(energy, "components");
    const dfl_json *memories = dfl_json_want(&r->want, result, "memories", DFL_JSON_ARRAY, "is not a list");
    const dfl_json *einsums = dfl_json_want(&r->want, result, "einsums", DFL_JSON_ARRAY, "is not a list");
    const dfl_json *networks = dfl_json_want(&r->want, result, "networks", DFL_JSON_ARRAY, "is not a list");

    out->has_costs = true;
    out->seconds = read_number(r, latency, "seconds");
    out->bound_by = dfl_json_want_text(&r->want, latency, "bound_by");
    out->joules = read_number(r, energy, "joules");
    out->leakage = read_number(r, energy, "leakage");
    out->mac = read_count(r, operations, "mac");
    out->flop = read_count(r, operations, "flop");
    for (size_t i = 0; r->want.ok && i < memories->len; i++)
        read_memory(r, &memories->items[i], components, out);
    for (size_t i = 0; r->want.ok && i < einsums->len; i++)
        read_einsum(r, &einsums->items[i], out);
    for (size_t i = 0; r->want.ok && i < networks->len; i++) {
        const dfl_side_network one = { dfl_json_want_text(&r->want, &networks->items[i], "name"),
                                       read_number(r, &networks->items[i], "joules") };

        DFL_PUSH(r->arena, &out->networks, one);
    }
    out->mapping = dfl_json_text(dfl_json_get(result, "mapping"));
}

static dfl_side_result read_result(reader *r, const dfl_json *result)
{
    dfl_side_result out = { .file = r->want.file, .bound_by = "" };

    out.name = dfl_json_want_text(&r->want, result, "name");
    out.workload = dfl_json_want_text(&r->want, result, "workload");
    out.system = dfl_json_want_text(&r->want, result, "system");
    out.status = dfl_json_want_text(&r->want, result, "status");
    if (r->want.ok && strcmp(out.status, "infeasible") != 0)
        read_costs(r, result, &out);
    return out;
}

bool dfl_diff_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *json, size_t len,
                   dfl_side_results *out)
{
    reader r = { arena, { sink, DFL_FILE_NOT_REPORT, file, "is not a report of dflc", true } };
    dfl_json_error error;
    const dfl_json *report = dfl_json_parse(arena, json, len, &error), *results;

    if (!report) {
        dfl_report(sink, DFL_FILE_NOT_REPORT, (dfl_span){ 0, 0 }, "`%s` is not a report of dflc: line %u: %s", file,
                   error.line, error.message);
        return false;
    }
    if (strcmp(dfl_json_want_text(&r.want, report, "schema"), "dfl-report/1") != 0)
        dfl_json_refuse(&r.want, "schema", "is not `dfl-report/1`");
    results = dfl_json_want(&r.want, report, "results", DFL_JSON_ARRAY, "is not a list");
    for (size_t i = 0; r.want.ok && i < results->len; i++) {
        const dfl_side_result one = read_result(&r, &results->items[i]);

        DFL_PUSH(arena, out, one);
    }
    return r.want.ok;
}
