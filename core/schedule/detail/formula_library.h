#pragma once

#include <memory>
#include <string>

#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule::detail {

/// Formulas are in a library of their own (see load_part()), loaded with the first formula: muParser loads OpenMP,
/// which must not read its settings before the program has made them (run::set_openmp_wait()).
inline constexpr const char* formula_library = "libbatchscope_formula.so";
inline constexpr const char* formula_entry = "batchscope_formula";
using FormulaEntry = void (*)(std::unique_ptr<BatchSchedule>& made, const std::string& expression,
                              const ScheduleOrigin& origin);

} // namespace batchscope::schedule::detail
