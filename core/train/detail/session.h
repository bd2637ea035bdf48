#pragma once

#include <memory>

#include "core/run/session.h"

namespace batchscope::train {

/// See run::Engine.
std::unique_ptr<run::Session> open_session(const run::RunSpec& spec, const std::shared_ptr<data::DataPool>& pool);

} // namespace batchscope::train
