/* The state of the execution of a plan over chips; shared by the files of this folder. */
#ifndef DFL_ORACLE_CHIPS_CHIPS_INTERNAL_H
#define DFL_ORACLE_CHIPS_CHIPS_INTERNAL_H

#include "oracle/chips/chips.h"
#include "support/vec.h"

enum {
    CHIPS_MOST = 256,          /* chips of an execution */
    CHIPS_GROUPS = 32,         /* groups of chips */
    CHIPS_DIMS = 16,           /* dimensions of a tensor */
    CHIPS_VISITS = 1 << 27,    /* most points that one execution visits, over all chips; chosen, not derived */
};

/* Chips that divide something among themselves: `count` of them along an axis, `stride` apart. */
typedef struct {
    uint32_t axis;
    int64_t stride, count;
    bool has_stages;
    bool is_dealt;             /* each chip has every count-th element, from its place on */
} chip_group;

/* Elements of a tensor, one byte each. */
typedef uint8_t *element_set;

/* A reading of an einsum: the elements that an operand touches. One that a repeat carries touches two tensors: the one before the
   repeat and the one that the iteration before made. */
typedef struct {
    uint32_t tensor;           /* that has the elements; DFL_NONE = the reading touches nothing */
    bool by_rows;              /* rows that a gather selects by data */
    element_set *of_chip;      /* [chip]: over all passes and layers */
    uint64_t other, all;       /* masks of groups along which chips lack elements at home: they ask for other ones, or for all */
    uint64_t one;              /* of `all`: those that divide a dimension of which a pass reads one element */
    uint64_t halo;             /* mask of groups along which they ask for elements of neighbours */
    uint64_t to_rows;          /* mask of groups that divide the rows of a table: points take their elements to the rows */
    bool is_joint;             /* each chip gets the elements that the points of all chips read, before the points go */
    uint64_t alone;            /* of `all`: those that divide no dimension which a group of `other` divides, too */
    uint32_t *seen;            /* [element]: number of the last visit that touched it */
} chip_reading;

enum { READING_DIRECT, READING_CARRIED, N_READINGS };

typedef struct row_notes row_notes; /* rows.c */
typedef struct {
    const dfl_einsum *einsum;
    const dfl_line *divides[CHIPS_GROUPS]; /* [group]: the line that divides a rank among the chips of the group */
    uint64_t rows;             /* mask of groups whose chips have rows of a table: each point is computed where its row is */
    uint32_t rows_of, rows_dim, rows_rank; /* the table; its dimension that data select, and the rank of this dimension */
    const dfl_access *rows_at; /* the positions of the rows; NULL = no points go to rows */
    uint32_t rows_by;          /* the einsum of the forward phase that gathers the rows */
    const dfl_line *instead[CHIPS_GROUPS]; /* [group]: the line that divides the points without rows; NULL = none */
    row_notes *notes;          /* [reading, then the result]: pairs of points and elements in the present pass */
    int64_t *lo, *hi;          /* [chip * n_ranks + rank]: the block of a chip over all passes and layers */
    int64_t *step;             /* [rank]: distance of its values in the block */
    int64_t *pass;             /* [rank]: values of a pass */
    uint64_t stages;           /* mask of the stages that run it; of an einsum with layers: all */
    bool has_layers;           /* each stage runs its layers */
    uint32_t repeat;           /* rank of its repeat, or DFL_NONE */
    uint32_t target;           /* the tensor that has the elements of its result */
    chip_reading *reads;       /* [operand * N_READINGS + reading] */
    chip_reading made;
    bool is_thinned;           /* conditions leave out elements that a chip would make */
    uint32_t **parts;          /* [chip]: values of the elements that the chip has made of the target and not yet given away */
    element_set *touched;      /* [chip]: those elements */
    element_set *latest;       /* [chip]: elements that the chip made in its latest pass, or got from neighbours; NULL = it ran in
                                  none */
    element_set *outgoing;     /* [chip]: those that it made itself, also what its neighbours have at home */
    element_set *rows_made;    /* [layer * chips + chip]: rows to which the chip has added; NULL = none yet */
} chip_einsum;

typedef struct {
    uint32_t n_elem;
    uint32_t first_reader, first_operand, reading; /* DFL_NONE = none */
    uint32_t last_producer;
    uint64_t summed;           /* masks of groups: the producers make parts of sums */
    uint64_t late, scattered;  /* of those, summed once behind the last pass; split at home */
    uint64_t gathered;         /* made in parts and whole at home */
    uint64_t beside;           /* producers make elements that neighbours have at home */
    uint64_t by_rows;          /* mask of groups that divide the home as the rows of a table, by data */
    uint32_t rows_at;          /* tensor with the positions of the rows of `by_rows` */
    uint64_t back;             /* of `summed`: each point sends what it makes to the chip of the group with this part at home */
    uint64_t across;           /* mask of groups along which einsums make it by rows and its home is split */
    bool is_dealt;             /* the tensor has positions of rows, for which the execution chooses data */
    uint32_t *dealt;           /* [element]: the chosen data */
    uint64_t stated;           /* mask of groups on which a keep states the split */
    bool is_tied;              /* summed over the first and the last stage */
    element_set *home;         /* [chip] */
    element_set **side;        /* [group][chip]: what the home of the chip may have by this group alone; NULL = everything */
    uint8_t along[CHIPS_GROUPS]; /* 1 + the dimension that the group divides there; 0 = the elements tell it */
    uint32_t **value;          /* [chip]: values of the elements that it has */
    element_set *has;          /* [chip]: whether it has them */
    element_set read_in;       /* [micro-batch * elements + element]: of an input outside of the chips, whether it is read */
    element_set room;          /* elements of the present pass that conditions leave out; NULL = none */
    uint32_t *live;            /* [element]: number of its value in `values` of the execution plus 1; 0 = none */
    element_set *renewed;      /* [chip]: elements of a state that einsums have written; else NULL */
    uint32_t *alone;           /* values on one chip */
    element_set written;       /* on one chip */
} chip_tensor;

enum { N_BUFFERS = 4 };

/* What an exchange has brought in the present pass. */
typedef struct {
    const chip_reading *reading; uint32_t einsum;
    const dfl_access *access;
    dfl_phase phase;
    int64_t layer;             /* -1 = outside of a repeat: for all layers */
    uint64_t stages;           /* mask */
    uint32_t values[N_BUFFERS]; /* buffers: all-to-all, all-gather, broadcast, points that go to rows; DFL_NONE = none */
} chip_copy;

/* An einsum in one pass. Passes of one phase and micro-batch have their moments in the order in which a stage runs them. */
typedef struct {
    uint32_t einsum;
    dfl_phase phase;           /* that runs it: the backward one also runs what it recomputes */
    int64_t micro_batch, layer;
} chip_moment;

/* What the passes of a tensor leave in memory between their first and their last use: the elements of one micro-batch and layer,
   or the buffer of an exchange. */
typedef struct {
    uint32_t tensor;
    int64_t micro_batch, layer;
    bool again;                /* made by a recompute */
    const void *buffer_of;     /* brought by an exchange for a reading, or parts that one sends of an einsum; NULL = neither */
    uint32_t *size;            /* [chip]: elements */
    uint32_t *outside;         /* [first chip inside of a memory around the chips]: elements there */
    uint32_t **uses, *n_uses;  /* [stage][use]: moments, not in order */
} chip_value;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *mapping;
    const dfl_workload *w;
    const dfl_system *s;
    chip_group groups[CHIPS_GROUPS]; uint32_t n_groups;
    uint32_t stage_group, stage_rank, n_stages; int64_t interleave; /* group and rank: DFL_NONE = one stage */
    uint32_t *stage_of_layer;  /* [layer] */
    int64_t *chunk_of_layer;   /* [layer]: chunk of its stage */
    uint32_t home;             /* memory of the chips */
    uint32_t *home_of;         /* [tensor]: memory */
    uint32_t *stored_with;     /* [tensor]: the one outside of the chips with which its values are stored; DFL_NONE = none */
    uint32_t n_chips;
    uint32_t *digit;           /* [chip * CHIPS_GROUPS + group] */
    bool *repeats;             /* [rank] */
    int64_t micro_batches;
    int64_t *tiles; uint32_t *tiled; uint32_t n_tiled; /* ranks with micro-batches, in the order of their lines; their numbers */
    int64_t *tile_stride;      /* [tiled rank]: micro-batches from one of its passes to the next */
    chip_einsum *einsums;
    chip_tensor *tensors;
    bool *recomputed;          /* [tensor] */
    bool **goes;               /* [line][einsum]: whether the points of the einsum go by the rows of the line; NULL = none do */
    int64_t *at;               /* [rank]: the present point */
    uint64_t visits;
    bool failed;
    uint32_t visit;            /* number of the present visit of an einsum by a chip */
    DFL_VEC(chip_copy) copies;
    DFL_VEC(chip_moment) moments;
    DFL_VEC(chip_value) values;
    DFL_VEC(dfl_chips_exchange) exchanges;
    dfl_chips_work **work;     /* [einsum][iteration of its repeat]: of the largest micro-batch */
    dfl_chips_result *out;
} chips;

static inline uint32_t chips_digit(const chips *c, uint32_t chip, uint32_t group)
{
    return c->digit[(size_t)chip * CHIPS_GROUPS + group];
}
static inline uint32_t chips_stage(const chips *c, uint32_t chip)
{
    return c->stage_group == DFL_NONE ? 0 : chips_digit(c, chip, c->stage_group);
}
/* Reports what is not executed. Returns false. */
bool dfl_chips_refuse(chips *c, dfl_span span, const char *what);

/* setup.c: groups of chips, blocks, stages, micro-batches */
bool dfl_chips_set_up(chips *c);
bool dfl_chips_runs(const chips *c, uint32_t einsum, uint32_t chip, int64_t layer);

/* Whether a tensor is a state of the workload, which is there before the step: a cache, no moment of an optimizer. */
static inline bool dfl_chips_is_state(const chips *c, uint32_t tensor)
{
    return c->w->tensors[tensor].role == DFL_ROLE_STATE && c->w->tensors[tensor].part == DFL_PART_PLAIN;
}

/* Whether a group divides the points of an einsum among its chips. */
static inline bool chips_is_divided(const chip_einsum *e, uint32_t group)
{
    return e->divides[group] != NULL || (e->rows >> group & 1) != 0;
}

/* values.c: elements and values at a point */
/* The tensor that has the elements of a tensor: the table of gathered rows. */
uint32_t dfl_chips_holder(const chips *c, uint32_t tensor);
/* The shape of a holder. */
const int64_t *dfl_chips_shape(const chips *c, uint32_t holder, uint32_t *n_dims);
/* The element of an access at the present point; `row` = what a gather or scatter selects, -1 = nothing. -1 outside. */
int64_t dfl_chips_element(const chips *c, uint32_t einsum, const dfl_access *a, int64_t row, bool carried, uint32_t *tensor);
/* Whether an access reads what the iteration before has made, at the present point. */
bool dfl_chips_is_carried(const chips *c, uint32_t einsum, const dfl_access *a);
/* The tensor that a repeat carries into the access; DFL_NONE = none. */
uint32_t dfl_chips_carried(const chips *c, uint32_t einsum, uint32_t tensor);
/* Whether the present point satisfies the conditions of its einsum. */
bool dfl_chips_has_point(const chips *c, uint32_t einsum);
typedef uint32_t (*chips_read)(void *context, uint32_t einsum, uint32_t operand, int64_t row);
/* Whether an einsum is an optimizer that renews the rows which the forward pass has gathered, each once. */
bool dfl_chips_renews_rows(const chips *c, uint32_t einsum);
/* The value of an einsum at the present point, and the row to which a scatter adds it (else -1). */
uint32_t dfl_chips_value(chips *c, uint32_t einsum, chips_read read, void *context, int64_t *row);
uint32_t dfl_chips_combine(dfl_reduce reduce, uint32_t a, uint32_t b);
/* The value of an element before the step. */
uint32_t dfl_chips_given(const chips *c, uint32_t tensor, uint32_t element);
/* Runs the whole workload on one chip, into `alone`. */
void dfl_chips_run_alone(chips *c);
/* Positions the present point at the first point of a block without layer (`layer` >= 0 fixes the rank of the repeat); false =
   empty. The next one, with distances `step` between the values of each rank (NULL: 1); false = none. */
bool dfl_chips_first(chips *c, uint32_t einsum, const int64_t *lo, const int64_t *hi, int64_t layer);
bool dfl_chips_next(chips *c, uint32_t einsum, const int64_t *lo, const int64_t *hi, const int64_t *step, int64_t layer);

/* groups.c: how groups divide */
/* Whether the chips of a group work beside each other. */
static inline bool dfl_chips_is_work(const chips *c, uint32_t group)
{
    return !c->groups[group].has_stages && c->groups[group].count > 1;
}
/* The chip at another place of a group. */
uint32_t dfl_chips_move_chip(const chips *c, uint32_t chip, uint32_t group, uint32_t place);
/* Whether a set of elements of a tensor has none. */
bool dfl_chips_is_empty(const chips *c, uint32_t tensor, const uint8_t *set);
/* Whether a group divides a rank that stands in an index of an access. */
bool dfl_chips_asks_for_parts(const chips *c, uint32_t einsum, const dfl_access *a, uint32_t group);
/* Whether chips of a group have different sets. */
bool dfl_chips_varies(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group);
/* The same of an access; if none of its indices has the rank that the group divides, without the chips that have no point. */
bool dfl_chips_varies_in(const chips *c, uint32_t einsum, const dfl_access *a, uint32_t tensor, element_set *of, uint32_t group);
/* Whether sets of chips of a group overlap without being equal. */
bool dfl_chips_overlaps(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t group);
/* The coordinate of an element in a dimension. */
int64_t dfl_chips_coordinate(const chips *c, uint32_t tensor, uint32_t element, uint32_t dim);
/* Whether some chip of a group has other coordinates in a dimension of a tensor than chip 0. `of_chip`: [chip]: the elements that
   the chip has; NULL = each chip has all. Chips without elements are not compared; if only chip 0 has elements, a dimension of
   extent 1 counts as divided. */
bool dfl_chips_divides_in(const chips *c, uint32_t tensor, element_set *of_chip, uint32_t dim, uint32_t group);
/* Whether a group divides a dimension of a home. */
bool dfl_chips_divides_dimension(const chips *c, uint32_t tensor, uint32_t dim, uint32_t group);

/* homes.c: where tensors lie */
/* Whether each chip of a group makes parts of the same sums: it divides a rank that no index of the result has. */
bool dfl_chips_makes_parts(const chips *c, uint32_t einsum, uint32_t group);
/* Lays the homes of all tensors. */
void dfl_chips_lay_homes(chips *c);
/* Whether parts of a gradient are summed once, behind the last pass. */
bool dfl_chips_is_of_step(const chips *c, uint32_t tensor);
/* Whether a tensor is complete behind the last pass: as a gradient of the step, or a sum over passes that no einsum reads. */
bool dfl_chips_ends_late(const chips *c, uint32_t tensor);

/* sets.c: what each chip reads and makes */
bool dfl_chips_find_sets(chips *c);

/* One pass of an einsum. */
typedef struct {
    chips *c;
    uint32_t einsum, chip;
    int64_t micro_batch, layer;    /* layer -1: outside of repeats, or all layers of the stage */
    uint64_t stages;               /* bit s: stage s runs the pass of the einsum */
    int64_t *lo, *hi;              /* [rank]: block of the present chip */
    uint64_t points;               /* that it computed */
} chip_pass;

/* What a chip touched of an operand in a pass within its parts of the groups of `halo`, whose neighbours bring the rest: all of
   it; by the groups of `alone`; by those of `all` without `one`. `sent`, `gathered`: most that one other chip has of the
   groups in which the operand goes across, or is gathered behind. */
typedef struct { uint32_t seen, own, part, sent, gathered; } touched_counts;

/* records.c: the exchanges of a pass */
/* Records those before an einsum; `counts` = [chip][operand * N_READINGS + reading]. */
void dfl_chips_record_operands(chip_pass *p, const touched_counts *counts);
/* Records the exchange of rows that other chips have; `made` = elements that a chip has most of. */
void dfl_chips_record_rows(chip_pass *p, uint64_t made);
/* Records those behind the last producer of a tensor; `made` = [chip]: what it made in this pass, or NULL. */
void dfl_chips_record_result(const chip_pass *p, element_set *made, bool is_last);
/* Records a message of `bits` between two stages, `from` and `to`, in one micro-batch. */
void dfl_chips_record_message(chips *c, uint32_t tensor, dfl_i128 bits, uint32_t from, uint32_t to);
/* Whether a pass has one value of an index. */
bool dfl_chips_is_one_value(const chips *c, const dfl_index *index);
/* Whether an einsum that makes a tensor has conditions that leave out elements of it. */
bool dfl_chips_has_conditions(const chips *c, uint32_t tensor);
/* Records the messages from the neighbours on one side; `side` as in the result. */
void dfl_chips_record_neighbour(chips *c, uint32_t tensor, uint32_t einsum, uint32_t side, dfl_i128 bits, uint64_t stages);
/* Whether the home has an element on a chip, by the groups of a mask alone. */
bool dfl_chips_is_within(const chips *c, uint32_t tensor, uint32_t chip, uint32_t element, uint64_t groups);

/* step.c: the step */
void dfl_chips_run_step(chips *c);
/* Sets `p->lo` and `p->hi`: the block of points of a chip in the pass. */
void dfl_chips_find_block(chip_pass *p, uint32_t chip);

#endif
