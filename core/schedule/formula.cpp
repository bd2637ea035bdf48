#include "core/base/part.h"
#include "core/schedule/detail/formula_library.h"

namespace batchscope::schedule {

std::unique_ptr<BatchSchedule> make_formula(const std::string& expression, const ScheduleOrigin& origin) {
  static const auto make =
      reinterpret_cast<detail::FormulaEntry>(load_part(detail::formula_library, detail::formula_entry));
  std::unique_ptr<BatchSchedule> formula;
  make(formula, expression, origin);
  return formula;
}

} // namespace batchscope::schedule
