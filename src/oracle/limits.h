/* Sizes that the oracle executes. A larger mapping is refused with E0602, since sets of elements would not fit memory,
   or the execution would take minutes; `prove` shrinks a design until it fits. */
#ifndef DFL_ORACLE_LIMITS_H
#define DFL_ORACLE_LIMITS_H

enum {
    DFL_ORACLE_POINTS = 1 << 24,    /* points of an einsum, elements of a tensor, parts of a line, instances of a system */
    DFL_ORACLE_CELLS = 1 << 26,     /* cells of all keeps; a cell has 24 bytes */
    DFL_ORACLE_NEED_BITS = 1 << 27, /* bits of the bitmaps of rule 11: iterations above an exchange times points */
    DFL_ORACLE_STEPS = 1 << 30,     /* steps of work: points visited, elements moved; some seconds */
};

/* Modulus of made-up values: the smallest prime above a million. Products of two values fit 64 bits. */
enum { DFL_ORACLE_PRIME = 1000003 };

#endif
