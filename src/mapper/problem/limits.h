/*
 * Tuning numbers of the mapper: name, unit, reason, and what the number trades. Apart from tolerances of rounding, no proof
 * depends on them: they decide which mappings a search finds, how far it raises its bound, and how long it takes.
 */
#ifndef DFL_MAPPER_PROBLEM_LIMITS_H
#define DFL_MAPPER_PROBLEM_LIMITS_H

/* Relative difference below which the search by boxes takes two values for equal: the bound of a point is computed in another
   order than its value. */
#define DFL_BOX_ROUNDING 1e-12
/* Relative difference below which a sum of coefficients is zero: positive and negative coefficients of a count cancel but for
   rounding. */
#define DFL_FORM_ROUNDING 1e-12
/* Share taken off the bound of a family of skeletons: more than the rounding of its sums. */
#define DFL_FAMILY_ROUNDING 1e-12
/* Share of the amounts of a rank that a trimmed box may keep: less is gained by a larger share than a new box costs. */
#define DFL_BOX_TRIM_LEFT 0.8
/* Precision of the logarithm of the bound by a geometric program, and largest number of its steps. */
#define DFL_BOX_PRECISION 1e-2
enum { DFL_BOX_PROGRAM_STEPS = 12 };
/* Nodes of a search for the parts of a loose form: some milliseconds. */
enum { DFL_LOOSE_NODES = 1 << 12 };

/* Share of the time that the search over all tile sizes gets before the searches that follow it if it does not end: they find
   mappings where its dives find no good ones. */
#define DFL_BOX_TIME 0.75

/* Relative difference below which a vertex lies on a line, and a sum of einsums on the least sum. */
#define DFL_LINES_ROUNDING 1e-9
/* Relative rise of the bound below which no further line is added: each costs as much as all lines before. */
#define DFL_EXCHANGE_RAISE 0.01
/* Least weight of the work among the times of a pattern, so that the latency of a program is positive: it costs this share of the
   time. */
#define DFL_WEIGHT_OF_WORK 1e-6
/* Weights of times that raise the bound of a pattern by a smaller share are not taken: they cost the programs of its skeletons
   once more, which other lines need under a limit on time. */
#define DFL_WEIGHT_RAISE 0.003
/* Seconds that the last sum over einsums (B43) may take after the deadline. */
#define DFL_MATCH_MOMENT 0.05
/* Relative rise of the bound of a choice below which less room does not count (B48): smaller rises raise no sum by more. */
#define DFL_CROWD_RAISE 0.001
/* Logarithms of the ratio of two tiles above which a leaf of tiles is split, at first and at the end; it is halved between.
   Smaller ratios take more splits, and raise the bound by less. */
#define DFL_MATCH_COARSE 1.0
#define DFL_MATCH_RATIO 0.04
/* Relative distance from which parts on an axis are no whole number (B57): smaller ones raise the bound by less. */
#define DFL_CELL_WHOLE 0.01
/* Precision of the geometric program of a form: a finer one takes more steps, and raises the bound of a workload by less. */
#define DFL_FORM_PRECISION 0.002

/* Ratio of the bound of a form to the least bound of its pattern above which the program of the form is not solved further: a
   search does not reach such forms. */
#define DFL_FORM_ENOUGH 1.3

/* Relative gap at which the search of an exchange pattern ends: a smaller gap takes many more nodes. */
#define DFL_PATTERN_GAP 0.005

/* Share of the cost of all einsums that a fused group must be able to save: smaller savings are not worth the time. */
#define DFL_GROUP_SAVING 1e-3
/* Relative change of the rate of a line below which it is not searched again. */
#define DFL_LINE_TURN 0.1

enum {
    /* For the bound of an einsum alone without short pieces that stay: programs, and the list of skeletons; seconds each. */
    DFL_ALONE_PROGRAMS = 1 << 17, DFL_ALONE_LISTED = 1 << 14,
    /* Splits of a search of one einsum without a limit on evaluations, some seconds. More proves more, and takes more memory. */
    DFL_BOX_NODES = 1 << 23,
    DFL_KIND_NODES = 1 << 14, /* the same of one of tens of searches: for a kind of mappings, or a point of a front */
    /* The same with windows and without a limit on time: their points prove less (SEARCH.md, B13), so most searches do not end.
       2^23 take 13 s for a convolution of 7 x 7 x 512 x 512 on a grid of 32 x 32, and 60 s for larger ones. */
    DFL_BOX_WINDOW_NODES = 1 << 17,
    /* Splits of a search for amounts of written lines, before one by lists, and for a part with branches: some seconds. */
    DFL_SIZES_NODES = 1 << 18,
    /* Parts that a written line may have on an axis in a search by boxes, which lists them: more than any axis of the library. */
    DFL_WRITTEN_PARTS = 1 << 16,
    /* Fillings of written lines up to which lists are as fast as boxes, some tenths of a second. */
    DFL_SIZES_LISTED = 1 << 16,
    /* Splits of a node between two bounds by a geometric program, which costs as much as some ten splits. 2 to 10 take equally
       long; more take more memory. */
    DFL_BOX_RENEW = 6,
    /* Splits that take as long as one evaluation of a point by the model. */
    DFL_BOX_LEAF = 16,
    /* Least work, in splits, for better mappings once the lower bound cannot rise: some 0.1 s. More finds better ones. */
    DFL_BOX_SETTLED = 1 << 15,
    /* Points of a form that tell how much more than their relaxed cost others will cost, once the lower bound cannot rise. */
    DFL_BOX_TRIALS = 64,
    /* Splits between two looks at the clock of progress reports, less than a millisecond. */
    DFL_BOX_REPORT = 1024,
    /* Splits between two dives to a point. Fewer splits find good mappings earlier; more evaluate fewer points. */
    DFL_BOX_DIVE = 64,
    /* Steps of the geometric program of a form at most: all but a few end in 20. */
    DFL_FORM_STEPS = 60,
    /* Other weights of times that are tried for some skeletons of a pattern; further ones raise few bounds. */
    DFL_WEIGHT_TURNS = 6,
    /* Cells of parts on axes of a skeleton (B57), each a program: more raise few bounds. */
    DFL_CELLS = 400,
    /* Lines that mix energy and time. */
    DFL_EXCHANGE_MIXES = 3,
    /* Lines on which einsums agree on tiles, too: each takes a hundred times as long. */
    DFL_EXCHANGE_MATCHED = 2,
    /* Lines with whole numbers of parts on axes: each takes some times as long as one on which einsums agree on memories. */
    DFL_EXCHANGE_WHOLE = 4,
    /* Choices of an einsum, of leaves of tiles for all tensors that it exchanges, from which on these are not split further:
       400 B each, and some ns in each round. More raise the bound of einsums that exchange three tensors by less than 1 %. */
    DFL_MATCH_CHOICES = 1 << 13,
    /* Bounds of a choice with the room that tiles of other einsums take: further ones raise few sums. */
    DFL_MATCH_CROWDS = 32,
    /* States of the sums over einsums, for each einsum: some ms and 16 B each. Beyond, einsums need not agree on further
       tensors. */
    DFL_EXCHANGE_STATES = 1 << 14,
    /* Skeletons of all einsums up to which all are searched together once more after the first search ended by time: to list a
       million takes 2 s, and the rows of as many find nothing in ten. */
    DFL_JOINT_SKELETONS = 1 << 18,
    /* Einsums of a fused group at most: larger groups compete for one memory, and each size adds a search per einsum. */
    DFL_GROUP_EINSUMS = 4,
    /* Nodes of one einsum alone; nodes of one einsum of a group with given tiles; tiles that are tried for a group. More find
       better mappings, and take longer in proportion. */
    DFL_ALONE_NODES = 1 << 17, DFL_ALONE_NODES_QUICK = 1 << 12, /* the latter in a quick search */
    DFL_GROUP_NODES = 1 << 11, DFL_GROUP_TRIES = 60,
    DFL_REGROUP_BEST = 1 << 10, DFL_REGROUP_SKELETONS = 96, /* best ones of a pattern; of these, searched below shared loops */
    /* Rounds of a descent from the best point of a pattern over all pairs of amounts, each some hundred microseconds. */
    DFL_DESCENT_ROUNDS = 8,
    /* Effort of the last search of groups under a limit on time, a factor of the numbers above. The first has 1, each 4 times
       that of the one before. */
    DFL_GROUP_EFFORT = 64, DFL_ALONE_EFFORT = 16, /* the least with which einsums alone are searched again */
    /* Searches of the einsums alone, each with the line that touches the objective at the result of the one before. */
    DFL_LINE_ROUNDS = 3,
};

/*
 * program/interior.c: the solver of geometric programs. Measured on the 1,100 programs of the skeletons of two GEMMs with 11 to
 * 15 variables, for a precision of 0.1 %; on these programs a factor of 3 in any of the numbers changes the mean number of steps
 * by less than a fifth.
 */
/* slack * multiplier at a cold start, in units of ln (objective): smaller starts spend steps at walls, larger ones on the way. */
#define DFL_GEOMETRIC_COLD_PRODUCT 0.3
/* Least slack of a limit at a cold start, in logarithms: exceeded limits start as if they had this room. */
#define DFL_GEOMETRIC_COLD_SLACK 0.3
/* slack * multiplier from the solution of a neighbour box: what changed is small, but its multipliers must be free to move. */
#define DFL_GEOMETRIC_WARM_PRODUCT 0.003
/* Share of a range that a warm start keeps from its ends: 0.02 takes a fifth more steps. */
#define DFL_GEOMETRIC_WARM_MARGIN 0.005
/* Share of the way to the first slack or multiplier of 0: below 1, for none may become 0; 0.95 takes a twentieth more steps. */
#define DFL_GEOMETRIC_STEP_SHARE 0.99
/* Longest change of a logarithm in a step: without one, 2 of 600 random programs circle; 1 takes a tenth more steps. */
#define DFL_GEOMETRIC_STEP_LENGTH 2

/* ---- first mappings (first/) ---- */

enum {
    /* Choices of axes that are kept from one axis to the next one inside of it, at least. Two axes of a matrix product have 20
       to 250 choices each; the best of both together are among the best 48 of the outer one on all chips of the library. */
    DFL_FIRST_FANS = 48,
    /* Estimates of choices of one axis, 0.3 us each. An axis of 304 has 6,405 choices of three ranks. */
    DFL_FIRST_FAN_STEPS = 1 << 15,
    /* The same, and estimates of an axis, for a first mapping of several einsums in a tenth of a second. */
    DFL_FIRST_FANS_BRIEF = 8,
    DFL_FIRST_FAN_STEPS_BRIEF = 1 << 11,
    /* Ranks on one axis. Four ranks on one axis fill it no better than three, but are many more choices in a convolution. */
    DFL_FIRST_FAN_RANKS = 3,
    /* Starts that the model judges, and that are refined, at most; the batches of starts are in first/first.c. */
    DFL_FIRST_REFINED = 8,
    /* Estimates that count as one evaluation by the model, which takes 20 to 150 us. */
    DFL_FIRST_ESTIMATES = 128,
    /* Steps of the model that count as one more evaluation. */
    DFL_FIRST_STEPS_EACH = 512,
    /* Evaluations of a search for a first mapping, some tenths of a second; most end before. */
    DFL_FIRST_EVALUATIONS = 1500,
    /* Keeps that an einsum may have with which a search over all skeletons does not end in useful time: three operands in three
       memories. */
    DFL_FIRST_DEEP = 8,
    /* Rounds of a descent over all loops; 3 to 6 are usual. */
    DFL_FIRST_ROUNDS = 24,
};
enum {
    /* Choices of tiles that the floor of the steps looks at (problem/floor.c), 5 ns each; a matrix product of 4096 has 16
       thousand. With more the floor is points over instances, up to some percent less. */
    DFL_FLOOR_STEPS = 1 << 20,
    /* Instances of an array from which on the floor of the steps is that, too: the tiles of its ranks are too many. */
    DFL_FLOOR_INSTANCES = 1 << 24,
};
/* Steps of one evaluation by the model: what takes more is left out. Windows in ragged pieces can take seconds. */
#define DFL_FIRST_STEPS UINT64_C(262144)
/* Steps per second that is left until a deadline, and steps that are always left. A step takes 25 ns for matrix products and
   convolutions on the TPU v4i, ten times that in the worst case that was met: an evaluation ends at the deadline, or some ms
   later. With fewer steps no mapping of a convolution is judged within a tenth of a second. */
#define DFL_FIRST_STEPS_SECOND 4194304.0
#define DFL_FIRST_STEPS_LEAST 65536.0
/* A round over the fine sizes that leaves more than this part of the value is the last one. */
#define DFL_FIRST_WORTH 0.9995
/* A coarse descent ends after its first round at an estimate so many times as large as the worst start that is kept: the rounds
   that follow gain some tens of percent. */
#define DFL_FIRST_HOPELESS 2.0
/* The model judges what the estimate finds at most so many times as large as the best. Stalls of ragged tiles are what the
   estimate misses most. */
#define DFL_FIRST_SLACK 1.05

/* Evaluations for a first mapping of several einsums, each by itself, all together: a tenth of a second. */
#define DFL_FIRST_SEVERAL UINT64_C(2000)

/* Largest extent of a rank of all einsums over which they are searched with an outermost loop over single elements: batches and
   heads, for which one element leaves enough work, not rows of matrices. */
#define DFL_COMMON_EXTENT 64
/* And least number of points of one element, times the instances of all arrays: fewer leave instances idle. */
#define DFL_COMMON_POINTS 256

/* Stages of a search of several einsums under a limit on time, in this order. Each number is a share of the time that is left
   when its stage begins; what all leave is for the einsums one by one. The shares were chosen on the field cases gpt_npu,
   llama_npu, resnet_npu and gpt_batch4 (tests/bench/field.tsv); a larger share takes time from the later stages. */
#define DFL_ROWS_SHARE 0.5         /* where memories in arrays move rows: before the search of what the model counts surely */
#define DFL_APART_SHARE 0.15       /* the best lines of each einsum alone, after some quick rounds */
#define DFL_APART_DEEP 0.35        /* the same where an einsum may have DFL_FIRST_DEEP keeps: before all skeletons are listed, the
                                      search of one has no mapping, and two fused matrix products on five memories would cost
                                      more than both alone; where that leaves each kind of einsum */
#define DFL_APART_LIST 1.5         /* at least so many seconds, for 110,000 skeletons */
#define DFL_APART_LEAST 3.0        /* seconds left above which the stage before runs: with less, fused groups need the time */
#define DFL_APART_ALONE_SHARE 0.25 /* einsum by einsum, where the search of all together does not know one of them */
#define DFL_NARROW_SHARE 0.5       /* in a wider space than that of `--tiles perfect`: all together there (a GPT-3 layer: 2 s) */
#define DFL_JOINT_SHARE 0.16       /* all einsums together */
#define DFL_COMMON_SHARE 0.65      /* one element of a rank of all einsums (solve/common_rank.c) */
#define DFL_LIST_SHARE 0.5         /* the list of all skeletons for groups and the bound: some ms; layers on a GPU take 2 s */
#define DFL_REGROUP_SHARE 0.4      /* groups of einsums of the best mapping; of it, the search before the model judges: */
#define DFL_REGROUP_SEARCH 0.85
#define DFL_GROUPS_SHARE 0.55      /* fused groups */
#define DFL_GROUPS_MANY 0.7        /* the same, where no search of all einsums together follows (DFL_JOINT_SKELETONS) */
#define DFL_GROUPS_WINDOWS 0.15    /* the same with windows, of which groups are found by rougher costs (pattern_search.h) */
#define DFL_GROUPS_PROBE 0.42      /* fused groups that have found nothing better than the mapping known end after this share */
/* Time for groups, s, below which their first search is a quick one; chosen on the same four cases. */
#define DFL_GROUP_SHORT 1.0
#define DFL_ALONE_SHARE 0.6        /* the search of an einsum alone, before its bound without short pieces that stay */
#define DFL_BOUND_SHARE 0.4        /* the lower bound of all exchanges */
#define DFL_BOUND_MANY 0.8         /* the same before groups, where no search of all einsums together follows */
#define DFL_AGAIN_SHARE 0.62       /* all together once more, if time ended the first stage */
/* The same inside of the stage with one element, which needs no lower bound: fused groups; all together once more. */
#define DFL_PART_GROUPS_SHARE 0.25
#define DFL_PART_AGAIN_SHARE 0.8
/* Climbs over all lines of the best mapping (improve/tree_climb.h): of the first one; after groups; and after the bound, which
   leaves half of the time for the einsums one by one. The first and the last one go on with random walks. A climb of a whole
   layer takes a second without them. */
#define DFL_CLIMB_FIRST 0.08
/* Seconds left below which the climb from the first mapping takes another share, and this share: groups find nothing then. */
#define DFL_CLIMB_SHORT 0.3
#define DFL_CLIMB_FIRST_SHORT 0.8
/* Seconds left, above the last, below which it takes another share, and this share: joint searches end late then, and climbs find
   most in their first second. */
#define DFL_CLIMB_MEDIUM 2.0
#define DFL_CLIMB_FIRST_MEDIUM 0.4
/* Einsums up to which the first mapping is climbed from, and the best one after groups: an evaluation of a layer of attention
   and MLP on a GPU takes a millisecond, and the groups and the bound need the time. Chosen on the field cases. */
#define DFL_CLIMB_FIRST_EINSUMS 5
#define DFL_CLIMB_EINSUMS 8
#define DFL_CLIMB_SHARE 0.12
#define DFL_CLIMB_REST 0.5
#define DFL_ALONE_NEAR 1.05 /* of more einsums than DFL_CLIMB_FIRST_EINSUMS: no climb begins from lines of each alone above it */
/* Evaluations of all einsums in a climb at most: under a limit on time; and without one, a second for a few einsums. */
#define DFL_CLIMB_TIMED UINT64_C(1000000)
#define DFL_CLIMB_EVALUATIONS UINT64_C(30000)
#define DFL_CLIMB_PROVEN UINT64_C(200) /* from a proven best mapping of up to DFL_CLIMB_EINSUMS einsums: some milliseconds */
/* Evaluations of a climb that polishes a mapping (improve/polish.h), each counted once for each einsum: some seconds. */
#define DFL_POLISH_EVALUATIONS UINT64_C(60000)
/* Random walks in a row without a gain that end a climb where no limit on time does. */
#define DFL_CLIMB_PATIENCE 4
/* A climb takes at most one part in so many of a limit on evaluations. */
#define DFL_CLIMB_PART 16
/* If more than this share of the whole limit is left after all stages, all einsums are searched together in it; chosen on the
   same four cases. */
#define DFL_REST_LEAST 0.25

/* Units of work (support/budget.h), 25 ns each, measured on whole layers and a matrix product on TPU v4i: of an evaluation over
   lists of divisors (10 to 50 ns; 6 units cut a proof of 137 million off); of a split of a box; of a geometric program of a form;
   of a skeleton that is listed; of an einsum in a climb. They decide how long a search without a limit takes, some tens of s. */
enum { DFL_WORK_ROW = 2, DFL_WORK_SPLIT = 220, DFL_WORK_PROGRAM = 4000, DFL_WORK_SKELETON = 20, DFL_WORK_CLIMB = 1000 };

/* ---- classes of einsums (einsum_classes.c) ---- */

enum {
    /* Steps that a search with a limit on evaluations may take to list skeletons, some tenths of a second; where the limit times
       DFL_CLASSES_STEPS_EACH is more, that many. */
    DFL_CLASSES_STEPS = 1 << 20,
    DFL_CLASSES_STEPS_EACH = 256,
};

/* ---- choice of the search (single.c) ---- */

enum {
    /* Least extent that can be coarse: below it a search over divisors misses little. */
    DFL_COARSE_LEAST = 16,
    /* Largest factor between neighbouring divisors of an extent that is not coarse. A factor of 8 costs at most a factor of 3 in
       the transfers of a matrix product whose tile has the wrong size. */
    DFL_COARSE_STEP = 8,
    /* Largest number of divisors of an extent that is not coarse. With 60 divisors a search over lists takes 6 s; with 120 it
       does not end. */
    DFL_COARSE_DIVISORS = 48,
};

#endif
