/*
 * A system: the hardware as one tree from a register to a data centre, stored as flat arrays. An element is a pair of
 * braces in the file: the root, the element of an array, or a side branch. Memories, compute units and axes are sorted
 * by declaration, outer ones first. A part sees a memory if the memory has a smaller id and lies in the same element or
 * in an enclosing one. Memories in side branches are visible only inside of the branch.
 *
 * Units are bits, seconds, joules, watts and square metres. An infinite rate is INFINITY. An energy of 0 with its
 * `has_` flag cleared means that the file states none.
 */
#ifndef DFL_IR_SYSTEM_H
#define DFL_IR_SYSTEM_H

#include "ir/efficiency.h"
#include "ir/topology.h"
#include "ir/workload.h"

typedef struct {
    dfl_sym name;          /* name of a side branch or of `use`; 0 for the root and array elements */
    dfl_span span;
    uint32_t parent;       /* enclosing element, DFL_NONE for the root */
    uint32_t first_axis, n_axes; /* axes between the enclosing element and this element */
    bool side;             /* side branch, `element x { }`: parts after the branch do not see its memories */
    double clock;          /* clock, inherited, Hz; 0 = no clock */
} dfl_element;

/* The tensors that an attribute applies to: all tensors, or those with certain roles and names. */
typedef struct {
    bool on;               /* the file states the attribute */
    bool all;
    uint32_t roles;        /* mask of roles, 1u << dfl_role each */
    const dfl_sym *names;
    uint32_t n_names;
    const dfl_span *spans; /* place of each name, for reports; NULL = unknown */
} dfl_selection;

typedef struct {
    dfl_sym name;
    dfl_span span;
    int64_t size;          /* number of instances along the axis, > 0 */
    uint32_t element;      /* the element that the axis repeats */
    uint32_t network;      /* network of the axis, DFL_NONE without `over` */
    dfl_selection multicast, reduce;
    bool forward;          /* an instance passes on to its neighbour the input elements that it receives */
} dfl_axis;

typedef struct {
    dfl_sym name;          /* full name, for example "gpu.hbm" */
    dfl_span span;
    uint32_t element;
    int64_t size_bits;     /* capacity per instance (in bits); -1 = unlimited */
    dfl_span size_span;
    bool one_port;         /* reads and writes share one port, so their times add (plain `bandwidth`, or `ports = shared`) */
    double read_rate, write_rate;     /* bandwidths of reads and writes, bit/s per instance */
    bool free_drains;      /* results leave for the outer memory over a port of their own, which is never busy */
    double read_energy, write_energy; /* energies of reads and writes (in J/bit) */
    double drain_energy;   /* energy of the reads of results that leave for the outer memory (in J/bit); see dfl_drain_energy */
    bool has_read_energy, has_write_energy, has_drain_energy;
    int64_t access_bits;   /* bits of a row: an access moves a whole row, which its energy is for; 0 = accesses move elements */
    double latency;        /* latency (in s) */
    double leakage;        /* leakage power, W per instance */
    double area;           /* area, m2 per instance */
    int64_t buffers;       /* number of buffers of a tile, >= 1 */
    bool stream;           /* the memory has overlap = stream */
    const dfl_efficiency *efficiency; /* share of the bandwidths by the bits of a transfer; NULL = the whole bandwidth */
    dfl_selection holds;   /* tensors that the memory may hold; off = all tensors */
} dfl_memory;

typedef struct {
    dfl_sym op;            /* operation of the rate: "mac", "flop", the name of an op, or 0 for any operation */
    dfl_sym type;          /* data type of the rate, or 0 for any type */
    double rate;           /* MAC/s for mac, FLOP/s for all other operations, per instance */
} dfl_rate;

/* The energy of operations in one data type. */
typedef struct {
    dfl_sym type;
    double joules;         /* J per FLOP; a MAC is two FLOPs */
} dfl_type_energy;

typedef struct {
    dfl_sym name;
    dfl_span span;
    uint32_t element;
    uint32_t after_memory; /* number of memories declared before the unit */
    const dfl_rate *rates;
    uint32_t n_rates;
    const dfl_efficiency *efficiencies; /* shares of the rates by the FLOP of an einsum in one pass */
    uint32_t n_efficiencies; /* number of efficiencies; a rate without one is reached in full */
    double launch;         /* time that passes before an einsum or a fused branch starts (in s) */
    int64_t units;         /* number of equal units that make up this one, of which an einsum takes whole ones; 0 = not divided */
    int64_t lanes, rows;   /* points that each of these units computes at the same time: lanes x rows, each >= 1 */
    double mac_energy, flop_energy; /* energies, J per MAC and J per FLOP, of types without an energy of their own */
    const dfl_type_energy *type_energies;
    uint32_t n_type_energies;
    bool has_energy;
    double area, leakage;  /* area (m2) and leakage power (W) per instance */
    const dfl_sym *ops;    /* operations that the unit can run ("mac", "flop", op names); none = all operations */
    uint32_t n_ops;
    dfl_selection operand_reuse; /* operands that the unit reads only when they change */
} dfl_compute;

typedef struct {
    dfl_sym name, kind;    /* name of the network; its kind: "bus", "mesh", ... */
    dfl_span span;
    uint32_t element;      /* element that declares the network */
    double bandwidth;      /* bandwidth, bit/s per link and direction */
    double latency;        /* latency (in s) */
    double energy;         /* energy (in J/bit) */
    bool has_energy;
    uint32_t port;         /* axis each of whose instances has a port of its own; DFL_NONE = one port for each instance of
                              the array over the network, shared by everything inside */
    const dfl_efficiency *efficiency; /* share of the bandwidth by the bits of a transfer; NULL = the whole bandwidth */
    dfl_topology topology;     /* shape between chips */
} dfl_network;

typedef struct {
    dfl_sym name;
    dfl_span span;
    const dfl_element *elements; uint32_t n_elements;
    const dfl_memory *memories;  uint32_t n_memories;
    const dfl_compute *computes; uint32_t n_computes;
    const dfl_network *networks; uint32_t n_networks;
    const dfl_axis *axes;        uint32_t n_axes;
    double tdp, area, price;     /* power limit (W), area (m2) and price (USD) stated for the system; 0 = not stated */
    double whole_power, whole_price; /* the same of the whole system, with the networks that no element with a power or a price
                                        contains (W, USD); 0 = not stated */
    double ports, cables;        /* number of ports and of cables of all networks between chips */
    dfl_sym source, confidence;
} dfl_system;

/* Whether `inner` is `outer` or lies inside of `outer`. */
bool dfl_element_within(const dfl_system *s, uint32_t inner, uint32_t outer);
/* Whether `axis` repeats `element`, that is, lies between the root and the element. */
bool dfl_axis_encloses(const dfl_system *s, uint32_t axis, uint32_t element);
/* Number of instances of an element in the whole system; true on overflow. */
bool dfl_element_instances(const dfl_system *s, uint32_t element, dfl_i128 *out);
/* Whether a memory has more than one instance. */
bool dfl_memory_is_in_array(const dfl_system *s, uint32_t memory);
/* dfl_compute_sees: whether a compute unit sees a memory. dfl_memory_outside: whether memory `a` lies outside of memory
   `b` on one path. */
bool dfl_compute_sees(const dfl_system *s, uint32_t compute, uint32_t memory);
bool dfl_memory_outside(const dfl_system *s, uint32_t a, uint32_t b);
/* Energy of a read of a result that leaves the memory for the outer one (in J/bit): that of a read unless the file states it. */
static inline double dfl_drain_energy(const dfl_memory *m)
{
    return m->has_drain_energy ? m->drain_energy : m->read_energy;
}
/* Whether the file states an energy of the memory's reads, drains or writes. */
static inline bool dfl_memory_has_energy(const dfl_memory *m)
{
    return m->has_read_energy || m->has_write_energy || m->has_drain_energy;
}
/* Leakage power of all instances (in W); area of the system (in m2): the stated area, else the sum over all instances. */
double dfl_system_leakage(const dfl_system *s);
double dfl_system_area(const dfl_system *s);
/* A copy of the system without capacities. `all`: also lets every memory hold every tensor. */
dfl_system *dfl_system_endless(dfl_arena *arena, const dfl_system *s, bool all);
/* A copy of the system in which accesses move elements, not rows; the system itself if none moves rows. No mapping costs more. */
const dfl_system *dfl_system_without_rows(dfl_arena *arena, const dfl_system *s);
/* A copy of the system in which one memory has `size_bits`, -1 = unlimited. */
dfl_system *dfl_system_sized(dfl_arena *arena, const dfl_system *s, uint32_t memory, int64_t bits);
/* Whether some axis has `over` with this network. */
bool dfl_network_used(const dfl_system *s, uint32_t network);
/* Whether the selection contains the tensor, by role or by name. */
bool dfl_selects(const dfl_selection *sel, const dfl_tensor *t);

#endif
