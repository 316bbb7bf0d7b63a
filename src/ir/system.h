/*
 * A system: the hardware as one tree from a register to a data centre, flattened. An element is a pair of braces: the
 * root, the element of an array, or a side branch. Memories, compute units and axes stand in declaration order, outer
 * first. A part sees the memories with a smaller id in its own and in the enclosing elements, side branches excepted.
 *
 * Units are bits, seconds, joules, watts and square metres. An infinite rate is INFINITY. An energy that is not given
 * is 0 with its `has_` flag cleared.
 */
#ifndef DFL_IR_SYSTEM_H
#define DFL_IR_SYSTEM_H

#include "ir/workload.h"

typedef struct {
    dfl_sym name;          /* side branches and `use`; 0 for the root and array elements */
    dfl_span span;
    uint32_t parent;       /* element, DFL_NONE for the root */
    uint32_t first_axis, n_axes; /* axes between the parent and this element */
    bool side;             /* `element x { }`: the parts behind it do not see its memories */
    double clock;          /* Hz, inherited; 0 = none */
} dfl_element;

/* The tensors that an attribute applies to: all, or some roles and names. */
typedef struct {
    bool on;               /* the attribute is given */
    bool all;
    uint32_t roles;        /* bit mask of 1u << dfl_role */
    const dfl_sym *names;
    uint32_t n_names;
} dfl_selection;

typedef struct {
    dfl_sym name;
    dfl_span span;
    int64_t size;          /* instances along the axis, > 0 */
    uint32_t element;      /* the element that the axis multiplies */
    uint32_t network;      /* DFL_NONE without `over` */
    dfl_selection multicast, reduce;
    bool forward;          /* an instance passes input elements that enter on to its neighbour */
} dfl_axis;

typedef struct {
    dfl_sym name;          /* full name, "gpu.hbm" */
    dfl_span span;
    uint32_t element;
    int64_t size_bits;     /* -1 = unlimited */
    dfl_span size_span;
    bool one_port;         /* read and write time add (plain `bandwidth`, or `ports = shared`) */
    double read_rate, write_rate;     /* bit/s per instance */
    double read_energy, write_energy; /* J/bit */
    bool has_read_energy, has_write_energy;
    double latency;        /* s */
    double leakage;        /* W per instance */
    double area;           /* m2 per instance */
    int64_t buffers;       /* >= 1 */
    bool stream;           /* overlap = stream */
    dfl_selection holds;   /* off = everything */
} dfl_memory;

typedef struct {
    dfl_sym op;            /* "mac", "flop", the name of an op, or 0 for any */
    dfl_sym type;          /* data type, or 0 for any */
    double rate;           /* MAC/s for mac, FLOP/s for everything else, per instance */
} dfl_rate;

typedef struct {
    dfl_sym name;
    dfl_span span;
    uint32_t element;
    uint32_t after_memory; /* number of memories declared before the unit */
    const dfl_rate *rates;
    uint32_t n_rates;
    double mac_energy, flop_energy; /* J per MAC, J per FLOP */
    bool has_energy;
    double area, leakage;  /* per instance */
    const dfl_sym *ops;    /* operations that it can run ("mac", "flop", op names); none = all */
    uint32_t n_ops;
    dfl_selection operand_reuse; /* operands read only when they change */
} dfl_compute;

typedef struct {
    dfl_sym name, kind;    /* "bus", "mesh", ... */
    dfl_span span;
    uint32_t element;      /* the element with the declaration */
    double bandwidth;      /* bit/s per link and direction */
    double latency;        /* s */
    double energy;         /* J/bit */
    bool has_energy;
} dfl_network;

typedef struct {
    dfl_sym name;
    dfl_span span;
    const dfl_element *elements; uint32_t n_elements;
    const dfl_memory *memories;  uint32_t n_memories;
    const dfl_compute *computes; uint32_t n_computes;
    const dfl_network *networks; uint32_t n_networks;
    const dfl_axis *axes;        uint32_t n_axes;
    double tdp, area, price;     /* W, m2, USD; 0 = not given */
    dfl_sym source, confidence;
} dfl_system;

/* Whether `inner` is `outer` or lies inside it. */
bool dfl_element_within(const dfl_system *s, uint32_t inner, uint32_t outer);
/* Whether `axis` multiplies `element` (it stands between the root and the element). */
bool dfl_axis_encloses(const dfl_system *s, uint32_t axis, uint32_t element);
/* Instances of an element in the whole system; true on overflow. */
bool dfl_element_instances(const dfl_system *s, uint32_t element, dfl_i128 *out);
/* Whether a compute unit sees a memory; whether memory `a` lies outside memory `b` on one path. */
bool dfl_compute_sees(const dfl_system *s, uint32_t compute, uint32_t memory);
bool dfl_memory_outside(const dfl_system *s, uint32_t a, uint32_t b);
/* Leakage power of all instances, W; their area, or the area of the system if it is given, m2. */
double dfl_system_leakage(const dfl_system *s);
double dfl_system_area(const dfl_system *s);
/* A copy without capacities. `all`: every memory may hold every tensor, too. */
dfl_system *dfl_system_endless(dfl_arena *arena, const dfl_system *s, bool all);
/* A copy in which one memory has another size, in bits, -1 = unlimited. */
dfl_system *dfl_system_sized(dfl_arena *arena, const dfl_system *s, uint32_t memory, int64_t bits);
/* Whether some axis is `over` the network. */
bool dfl_network_used(const dfl_system *s, uint32_t network);
/* Whether the selection has the tensor, by its role or its name. Intermediates have no role to select by. */
bool dfl_selects(const dfl_selection *sel, const dfl_tensor *t);

#endif
