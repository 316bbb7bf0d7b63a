#include "sema/system/vocabulary.h"

#include <stddef.h>
#include <string.h>

/* Kinds of parts. */
#define E (1u << DFL_PART_ELEMENT)
#define M (1u << DFL_PART_MEMORY)
#define C (1u << DFL_PART_COMPUTE)
#define N (1u << DFL_PART_NETWORK)

/* Dimensions. */
#define NO_DIM     { { 0 } }
#define DATA_RATE  { { [DFL_BASE_DATA] = 1, [DFL_BASE_TIME] = -1 } }
#define PER_BIT    { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_DATA] = -1 } }
#define PER_OP     { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_OPS] = -1 } }
#define OP_RATE    { { [DFL_BASE_OPS] = 1, [DFL_BASE_TIME] = -1 } }
#define POWER      { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = -1 } }
#define FREQUENCY  { { [DFL_BASE_CYCLE] = 1, [DFL_BASE_TIME] = -1 } }
#define TIME       { { [DFL_BASE_TIME] = 1 } }
#define AREA       { { [DFL_BASE_AREA] = 1 } }
#define MONEY      { { [DFL_BASE_MONEY] = 1 } }
#define DATA       { { [DFL_BASE_DATA] = 1 } }
#define OPS        { { [DFL_BASE_OPS] = 1 } }

/* Members of the intermediate representation that store the number. */
#define NONE       { 0 }
#define MEMORY(m)  [DFL_PART_MEMORY] = offsetof(dfl_memory, m) + 1
#define COMPUTE(m) [DFL_PART_COMPUTE] = offsetof(dfl_compute, m) + 1
#define NETWORK(m) [DFL_PART_NETWORK] = offsetof(dfl_network, m) + 1

/* Reasons why an attribute has no effect. */
#define COLLECTIVES "it matters only for a network between chips"

static const dfl_attribute_row vocabulary[] = {
    /* name              kinds      values              dimension  example           members; no effect */
    { "clock",            E,         DFL_TAKES_POSITIVE, FREQUENCY, "1GHz",          NONE, NULL },
    { "tdp",              E,         DFL_TAKES_QUANTITY, POWER,     "400W",          NONE, NULL },
    { "price",            E,         DFL_TAKES_QUANTITY, MONEY,     "12kUSD",        NONE, NULL },
    { "price",            N,         DFL_TAKES_QUANTITY, MONEY,     "12kUSD", { NETWORK(topology.price) }, COLLECTIVES },
    { "area",             E | M | C, DFL_TAKES_QUANTITY, AREA,      "20mm2",         { MEMORY(area), COMPUTE(area) }, NULL },
    { "source",           E,         DFL_TAKES_STRING,   NO_DIM,    "\"...\"",       NONE, NULL },
    { "confidence",       E,         DFL_TAKES_STRING,   NO_DIM,    "\"high\"",      NONE, NULL },
    { "size",             M,         DFL_TAKES_SIZE,     DATA,      "1MiB",          NONE, NULL },
    { "bandwidth",        M | N,     DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s",        NONE, NULL },
    { "read.bandwidth",   M,         DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s",        NONE, NULL },
    { "write.bandwidth",  M,         DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s",        NONE, NULL },
    { "energy",           M | N,     DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit",     NONE, NULL },
    { "read.energy",      M,         DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit",     NONE, NULL },
    { "write.energy",     M,         DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit",     NONE, NULL },
    { "drain.bandwidth",  M,         DFL_TAKES_WORD,     NO_DIM,    "unlimited",     NONE, NULL },
    { "drain.energy",     M,         DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit",     NONE, NULL },
    { "energy",           C,         DFL_TAKES_QUANTITY, PER_OP,    "0.1pJ/FLOP",    NONE, NULL },
    { "energy.mac",       C,         DFL_TAKES_QUANTITY, PER_OP,    "0.2pJ/MAC",     NONE, NULL },
    { "energy.flop",      C,         DFL_TAKES_QUANTITY, PER_OP,    "0.1pJ/FLOP",    NONE, NULL },
    { "energy.*",         C,         DFL_TAKES_QUANTITY, PER_OP,    "0.2pJ/MAC",     NONE, NULL },
    { "access",           M,         DFL_TAKES_POSITIVE, DATA,      "64bit",         NONE, NULL },
    { "latency",          M | N,     DFL_TAKES_QUANTITY, TIME,      "100ns", { MEMORY(latency), NETWORK(latency) }, NULL },
    { "leakage",          M | C,     DFL_TAKES_QUANTITY, POWER,     "3mW", { MEMORY(leakage), COMPUTE(leakage) }, NULL },
    { "buffers",          M,         DFL_TAKES_COUNT,    NO_DIM,    "2",             NONE, NULL },
    { "overlap",          M,         DFL_TAKES_WORD,     NO_DIM,    "stream",        NONE, NULL },
    { "ports",            M,         DFL_TAKES_WORD,     NO_DIM,    "shared",        NONE, NULL },
    { "holds",            M,         DFL_TAKES_TENSORS,  NO_DIM,    "weight",        NONE, NULL },
    { "rate",             C,         DFL_TAKES_POSITIVE, OP_RATE,   "1MAC/cycle",    NONE, NULL },
    { "rate.*",           C,         DFL_TAKES_POSITIVE, OP_RATE,   "1MAC/cycle",    NONE, NULL },
    { "ops",              C,         DFL_TAKES_OPS,      NO_DIM,    "mac",           NONE, NULL },
    { "operand_reuse",    C,         DFL_TAKES_TENSORS,  NO_DIM,    "weight",        NONE, NULL },
    { "efficiency",       C,         DFL_TAKES_EFFICIENCY, OPS,     "table(0FLOP, 50%, 1GFLOP, 90%)", NONE, NULL },
    { "efficiency.*",     C,         DFL_TAKES_EFFICIENCY, OPS,     "table(0FLOP, 50%, 1GFLOP, 90%)", NONE, NULL },
    { "efficiency",       M,         DFL_TAKES_EFFICIENCY, DATA,    "table(0B, 50%, 1MB, 90%)", NONE, NULL },
    { "efficiency",       N,         DFL_TAKES_EFFICIENCY, DATA,    "table(0B, 50%, 1MB, 90%)", NONE, COLLECTIVES },
    { "units",            C,         DFL_TAKES_COUNT,    NO_DIM,    "640",           NONE, NULL },
    { "lanes",            C,         DFL_TAKES_COUNT,    NO_DIM,    "32",            NONE, NULL },
    { "rows",             C,         DFL_TAKES_COUNT,    NO_DIM,    "6",             NONE, NULL },
    { "launch",           C,         DFL_TAKES_QUANTITY, TIME,      "4us",           { COMPUTE(launch) }, NULL },
    { "multicast",        N,         DFL_TAKES_AXES,     NO_DIM,    "row, col",      NONE, NULL },
    { "reduce",           N,         DFL_TAKES_AXES,     NO_DIM,    "row",           NONE, NULL },
    { "forward",          N,         DFL_TAKES_AXES,     NO_DIM,    "row",           NONE, NULL },
    { "port",             N,         DFL_TAKES_AXIS,     NO_DIM,    "gpu",           NONE, NULL },
    { "overhead",         N,         DFL_TAKES_QUANTITY, TIME,      "1us",    { NETWORK(topology.overhead) }, COLLECTIVES },
    { "rails",            N,         DFL_TAKES_WORD,     NO_DIM,    "separate",      NONE, COLLECTIVES },
    { "algorithm",        N,         DFL_TAKES_ALGORITHMS, NO_DIM,  "ring, halving_doubling", NONE, COLLECTIVES },
    { "power",            N,         DFL_TAKES_QUANTITY, POWER,     "100W",   { NETWORK(topology.power) }, COLLECTIVES },
    { "link.price",       N,         DFL_TAKES_QUANTITY, MONEY,     "200USD", { NETWORK(topology.link_price) }, COLLECTIVES },
    { "link.power",       N,         DFL_TAKES_QUANTITY, POWER,     "3W",     { NETWORK(topology.link_power) }, COLLECTIVES },
};

enum { N_ROWS = sizeof vocabulary / sizeof vocabulary[0] };

/* Kinds of parts with their articles, for reports. */
static const char *const kind_names[] = { "an element", "a memory", "a compute unit", "a network", "an axis" };

const dfl_attribute_row *dfl_attribute_at(int row)
{
    return row >= 0 && row < (int)N_ROWS ? &vocabulary[row] : NULL;
}

int dfl_attribute_find(const char *name, dfl_part_kind kind)
{
    for (int i = 0; i < (int)N_ROWS; i++) {
        const char *known = vocabulary[i].name;
        size_t same = 0;

        if (!(vocabulary[i].kinds & 1u << kind) || known[0] != name[0])
            continue;
        while (known[same] != '\0' && known[same] == name[same])
            same++;
        if (known[same] == '*' || (known[same] == '\0' && name[same] == '\0'))
            return i;
    }
    return -1;
}

bool dfl_attribute_has_group(const char *name, dfl_part_kind kind)
{
    size_t len = strlen(name);

    for (int i = 0; i < (int)N_ROWS; i++)
        if ((vocabulary[i].kinds & 1u << kind) && strncmp(vocabulary[i].name, name, len) == 0 &&
            vocabulary[i].name[len] == '.')
            return true;
    return false;
}

bool dfl_attribute_has_key(int row)
{
    const char *name = vocabulary[row].name;

    return name[strlen(name) - 1] == '*';
}

/* The attribute of a kind of part that others call `name`, or NULL. */
static const char *find_renamed(const char *name, dfl_part_kind kind)
{
    static const struct { unsigned kinds; const char *names, *attribute; } renamed[] = {
        { E, " frequency freq clk clock_frequency clock_rate clock_speed ", "clock" },
        { E, " power max_power ", "tdp" }, { E, " cost ", "price" },
        { M, " capacity bytes bits depth entries capacity_bytes memory_size ", "size" },
        { M | N, " bw throughput rate link_bandwidth ", "bandwidth" },
        { M | N | C, " energy_per_bit energy_per_access access_energy energy_per_op energy_per_mac ", "energy" },
        { M | N, " delay lat access_time ", "latency" },
        { M | C, " power static_power leak leakage_power idle_power ", "leakage" },
        { M, " double_buffer double_buffered double_buffering ", "buffers" },
        { M, " bypass keeps allows stores datatypes ", "holds" },
        { C, " throughput performance peak flops tops macs speed bandwidth ", "rate" },
        { C, " op operations supports ", "ops" }, { N, " broadcast ", "multicast" }, { N, " reduction ", "reduce" },
    };
    const size_t len = strlen(name);

    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        for (const char *at = strstr(renamed[i].names, name); at != NULL; at = strstr(at + 1, name))
            if ((renamed[i].kinds & 1u << kind) != 0 && at[-1] == ' ' && at[len] == ' ')
                return renamed[i].attribute;
    return NULL;
}

void dfl_attribute_report_unknown(dfl_system_draft *draft, const char *name, dfl_part_kind kind, dfl_span span)
{
    dfl_sym known[N_ROWS], near;
    size_t n = 0;
    const char *elsewhere = NULL, *renamed = find_renamed(name, kind), *meant = name;
    dfl_diag *d = dfl_report(draft->sink, DFL_SYS_ATTRIBUTE_UNKNOWN, span, "%s has no attribute `%s`", kind_names[kind],
                             name);

    draft->broken = true;
    for (int i = 0; i < (int)N_ROWS; i++) {
        if (vocabulary[i].kinds & 1u << kind)
            known[n++] = dfl_intern_z(draft->new_names, vocabulary[i].name);
        else if (strcmp(vocabulary[i].name, name) == 0)
            for (unsigned k = 0; k < DFL_N_PART_KINDS; k++)
                if (vocabulary[i].kinds & 1u << k)
                    elsewhere = kind_names[k];
    }
    for (unsigned k = 0; k < DFL_N_PART_KINDS && renamed == NULL && elsewhere == NULL; k++)
        if (find_renamed(name, (dfl_part_kind)k) != NULL) {
            meant = find_renamed(name, (dfl_part_kind)k);
            elsewhere = kind_names[k];
        }
    near = dfl_suggest(draft->names, name, known, n);
    if (renamed != NULL)
        dfl_diag_fix(draft->sink, d, span, renamed, DFL_FIX_MAYBE);
    else if (near != 0)
        dfl_diag_fix(draft->sink, d, span, dfl_sym_text(draft->names, near), DFL_FIX_MAYBE);
    else if (elsewhere != NULL)
        dfl_diag_help(draft->sink, d, "`%s` is an attribute of %s", meant, elsewhere);
    else if (n > 0)
        dfl_diag_help(draft->sink, d, "`dflc explain E0502` lists the attributes");
}
