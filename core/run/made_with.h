#pragma once

#include <string>

#include "core/run/run_start.h"

namespace batchscope::run {

/// Environment of a stored run as a text for people: environment_text() and, for a training program of the user's own,
/// the program's report of itself: `BatchScope 1.2, A processor; lightning 2.6.6, PyTorch 2.11.0, device cuda:0`. Empty
/// if nothing is known.
std::string made_with(const std::string& environment_json, const RunStart& start);

} // namespace batchscope::run
