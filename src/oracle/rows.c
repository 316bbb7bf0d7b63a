/* Rows that accesses move, element by element. */
#include "oracle/rows.h"

/* Bits that are free in the open row of each stream of an instance. */
struct dfl_oracle_rows { int64_t free[DFL_ORACLE_STREAMS]; };

void dfl_oracle_rows_move(dfl_oracle_machine *machine, const dfl_oracle_keep *keep, uint32_t inst, dfl_oracle_stream stream)
{
    const int64_t row = machine->system->memories[keep->memory].access_bits;
    int64_t left = machine->workload->tensors[keep->tensor].type.bits, *open;

    if (row == 0)
        return;
    if (keep->traffic->open == NULL)
        keep->traffic->open = DFL_NEW_ARRAY(machine->arena, struct dfl_oracle_rows, keep->n_inst);
    for (open = &keep->traffic->open[inst].free[stream]; left > 0; ) {
        const int64_t taken = left < *open ? left : *open;

        left -= taken;
        *open -= taken;
        if (left > 0) {
            keep->traffic->rows[stream]++;
            *open = row;
        }
    }
}
