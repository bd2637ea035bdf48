#pragma once

#include <memory>
#include <string>

#include "core/store/export.h"

namespace batchscope::store::detail {

/// One row per step; a cell is empty if the run has no value for it.
std::unique_ptr<Exporter> csv_exporter();
/// Everything that is stored of the runs, enough to restore them.
std::unique_ptr<Exporter> json_exporter();

/// The shortest text that reads back as the same number: integers without exponent; `NaN`, `Infinity`, `-Infinity`.
void append_number(std::string& text, double value);

} // namespace batchscope::store::detail
