#include "ir/program.h"

#include <string.h>

bool dfl_design_is_selected(const dfl_design *design, const dfl_intern *names, const char *only)
{
    return design->from_root && (!only || strcmp(only, dfl_sym_text(names, design->mapping->name)) == 0);
}

const dfl_mapping *dfl_program_find_mapping(const dfl_program *program, const dfl_intern *names, const char *name)
{
    for (uint32_t i = 0; i < program->n_designs; i++)
        if (dfl_design_is_selected(&program->designs[i], names, name))
            return program->designs[i].mapping;
    return NULL;
}
