/*
 * Limits of the step rule, above which an exchange needs a closed form, and of chunks.
 */
#ifndef DFL_COLLECTIVE_LIMITS_H
#define DFL_COLLECTIVE_LIMITS_H

enum {
    DFL_STEP_RULE_PORTS = 1 << 16,   /* ports of one network */
    DFL_STEP_RULE_LINKS = 1 << 20,   /* links of one network: 24 MB */
    DFL_STEP_RULE_MESSAGES = 1 << 20, /* messages of all groups in all different steps: 20 to 300 ms */
    DFL_COLLECTIVE_CHUNKS = 1 << 16  /* chunks of one collective, which pass the networks one by one: some 10 ms */
};

#endif
