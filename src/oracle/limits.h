/* Limits on the sizes that the oracle executes. A larger mapping is refused with E0602: its sets of elements would
   exceed memory, or its execution would take minutes; `dflc prove` shrinks a design below the limits. */
#ifndef DFL_ORACLE_LIMITS_H
#define DFL_ORACLE_LIMITS_H

enum {
    DFL_ORACLE_POINTS = 1 << 24,    /* limit on the points of an einsum, elements of a tensor, parts of a line, and instances of
                                       a system */
    DFL_ORACLE_CELLS = 1 << 26,     /* limit on the cells of all keeps, 24 bytes each */
    DFL_ORACLE_NEED_BITS = 1 << 27, /* limit on the bits of the bitmaps of rule 11: iterations above an exchange times points */
    DFL_ORACLE_STEPS = 1 << 30,     /* limit on the work: visited points plus moved elements; this work takes some seconds */
};

/* Modulus of the artificial values: the smallest prime above a million. A product of two values fits 64 bits. */
enum { DFL_ORACLE_PRIME = 1000003 };

#endif
