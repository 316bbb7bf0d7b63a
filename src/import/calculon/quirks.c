/* Each assumption of Calculon is left out after the other; the difference of two steps is what the assumption takes. */
#include "import/calculon/quirks.h"

#include "import/calculon/peer.h"

#include <math.h>

static const struct {
    const char *key, *what;
} quirks[DFL_CALC_N_QUIRKS] = {
    [DFL_CALC_TWICE] = { "tensor_par_overlap", "Calculon counts one tile of each exchange twice" },
    [DFL_CALC_REPEATED] = { "tensor_par_overlap", "Calculon hides what the backward pass gathers again beside gradients of "
                            "weights, which it slows down" },
    [DFL_CALC_TILED] = { "tensor_par_overlap", "Calculon runs the sums of an exchange beside the product, and hides no exchange "
                         "beside transfers" },
    [DFL_CALC_PORT] = { NULL, "Calculon moves nothing to or from the second memory while a layer uses the first one" },
    [DFL_CALC_STATE] = { NULL, "Calculon moves the state of the optimizer in each backward pass of a layer, and no new weights, "
                         "while the text moves both once in a step" },
    [DFL_CALC_IDLE] = { "activations_offload", "Calculon moves activations that nothing reads again in inference" },
    [DFL_CALC_LUMPED] = { NULL, "Calculon takes all transfers of a pass to or from the second memory as one piece" },
    [DFL_CALC_MESSAGES] = { NULL, "Calculon moves tensors to or from the second memory beside the messages between stages" },
    [DFL_CALC_RUNNING] = { "data_par_overlap", "Calculon counts recomputed work as a sum of running sums in the time that hides "
                           "the exchange of gradients" },
    [DFL_CALC_WAITS] = { "data_par_overlap", "Calculon exchanges no gradients while a layer uses its memory" },
    [DFL_CALC_SLOWED] = { "data_par_overlap", "Calculon lets the exchange of gradients take a share of the work of the chips" },
    [DFL_CALC_SHARED] = { "data_par_overlap", "Calculon exchanges no gradients while another dimension uses the same network" },
    [DFL_CALC_OPTIMIZED] = { "data_par_overlap", "Calculon hides gradients beside the optimizer of other layers" },
    [DFL_CALC_WINDOW] = { "data_par_overlap", "Calculon hides gradients beside sums over passes, and gathers weights with them, "
                          "while the text hides each beside the layers behind it, and gathers weights behind the optimizer" },
    [DFL_CALC_UNEQUAL] = { "pipeline_par", "Calculon leaves out passes where stages lack a layer, while all passes and transfers "
                           "of the text are shorter" },
};

/* The key whose option brings the quirk. */
static const char *key_of(const dfl_calc_run *run, dfl_calc_quirk quirk)
{
    if (quirks[quirk].key != NULL)
        return quirks[quirk].key;
    return run->moves_weights ? "weight_offload" : run->moves_activations ? "activations_offload" : "optimizer_offload";
}

void dfl_calc_lose_quirks(const dfl_calc_run *run, dfl_loss_report *report)
{
    bool as_peer[DFL_CALC_N_QUIRKS];
    double last, whole;

    for (size_t q = 0; q < DFL_CALC_N_QUIRKS; q++)
        as_peer[q] = true;
    last = whole = dfl_calc_step_seconds(run, as_peer);
    for (size_t q = 0; q < DFL_CALC_N_QUIRKS; q++) {
        double next;

        as_peer[q] = false;
        next = dfl_calc_step_seconds(run, as_peer);
        if (fabs(last - next) > 1e-6 * whole)
            dfl_lose(report, DFL_FOREIGN_LOST, dfl_yaml_get(run->execution, key_of(run, (dfl_calc_quirk)q))->span,
                     "%s: its step is %.6g s %s", quirks[q].what, fabs(last - next), last > next ? "longer" : "shorter");
        last = next;
    }
}
