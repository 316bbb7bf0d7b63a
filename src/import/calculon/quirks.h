/* By how many seconds the step of Calculon differs from that of the text, and why. */
#ifndef DFL_IMPORT_CALCULON_QUIRKS_H
#define DFL_IMPORT_CALCULON_QUIRKS_H

#include "import/calculon/calculon_internal.h"

/* Reports the assumptions of Calculon that the text does not share, with their seconds. */
void dfl_calc_lose_quirks(const dfl_calc_run *run, dfl_loss_report *report);

#endif
