/*
 * Limits of the step rule: a larger exchange needs a closed form.
 */
#ifndef DFL_COLLECTIVE_LIMITS_H
#define DFL_COLLECTIVE_LIMITS_H

enum {
    DFL_STEP_RULE_PORTS = 4096,      /* ports of one network */
    DFL_STEP_RULE_LINKS = 1 << 20,   /* links of one network: 24 MB */
    DFL_STEP_RULE_MESSAGES = 1 << 20 /* messages of all groups in all different steps: some 20 ms */
};

#endif
