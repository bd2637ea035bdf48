#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/part.h"
#include "core/schedule/detail/formula_library.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

constexpr std::string_view formula_prefix = "formula:";

/// The expression may contain commas, so the text is not split at them.
std::unique_ptr<BatchSchedule> make_formula(const std::string& text, const ScheduleOrigin& origin) {
  static const auto make =
      reinterpret_cast<detail::FormulaEntry>(load_part(detail::formula_library, detail::formula_entry));
  std::unique_ptr<BatchSchedule> formula;
  make(formula, text.substr(std::min(formula_prefix.size(), text.size())), origin);
  return formula;
}

} // namespace

extern const ScheduleKind formula_schedule;
const ScheduleKind formula_schedule{
    .name = "formula",
    .title = "Formula",
    .form = "formula:min(batch + 1, 64)",
    .make = make_formula,
    .example = [](std::int64_t batch, std::int64_t /*steps*/,
                  double /*epochs*/) { return fmt::format("formula:min(batch + 1, {})", batch * example_growth); },
    .depends_on_step_only = true};

} // namespace batchscope::schedule
