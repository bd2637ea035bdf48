#pragma once

#include "core/run/card_steps.h"

namespace batchscope::train {

/// See run::Engine::card_steps().
run::CardSteps card_steps(const run::CardQuestion& question);

} // namespace batchscope::train
