#include "certify/cost.h"

#include <math.h>

double dfl_certify_value(const dfl_certify_run *run, double joules, double seconds)
{
    return run->task->value(run->task->objective, joules + run->leakage * seconds, seconds);
}

double dfl_certify_buffers(const dfl_certify_run *run, const dfl_certify_problem *problem, uint32_t operand, uint32_t level)
{
    return problem->operand[operand].common != 0 ? (double)run->search->asked->system->memories[problem->memory[level]].buffers
                                                 : 1;
}

double dfl_certify_fetch_joules(const dfl_certify_run *run, const dfl_certify_problem *problem, uint32_t operand, uint32_t memory)
{
    const dfl_memory *memories = run->search->asked->system->memories;
    const dfl_certify_operand *o = &problem->operand[operand];
    uint32_t home = o->common != 0 ? problem->memory[o->home] : memory;

    return memory == home ? 0 : o->bits * (memories[home].read_energy + memories[memory].write_energy);
}

bool dfl_certify_is_same(const dfl_certify_run *run, double a, double b)
{
    return a == b || fabs(a - b) <= run->task->rounding * fmax(fabs(a), fabs(b));
}
