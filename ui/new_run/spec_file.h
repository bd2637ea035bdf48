#pragma once

#include <QString>

#include "core/run/run_spec.h"

namespace batchscope::ui {

/// Read and write a run's description as a JSON file, as `batchscope-cli train FILE` takes it. Both throw Error (input)
/// naming the file and what is wrong.
run::RunSpec read_spec_file(const QString& file);
/// Writes the file completely or not at all.
void write_spec_file(const run::RunSpec& spec, const QString& file);

} // namespace batchscope::ui
