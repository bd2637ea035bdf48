#include "core/search/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::search {

#define STRATEGY(name) extern const Strategy name##_strategy;
#include "core/search/strategies.def"
#undef STRATEGY

namespace {

void check(const FinderOptions& options) {
  if (options.max_batch < 1)
    throw input_error(fmt::format("max-batch is {}; accepted: 1 or more", options.max_batch));
  if (options.start && *options.start < 1)
    throw input_error(fmt::format("start is {}; accepted: 1 or more", *options.start));
  if (!(options.factor > 0 && options.factor < 1))
    throw input_error(fmt::format("factor is {}; accepted: above 0 and below 1", options.factor));
  if (!(options.margin >= 0 && options.margin < 1))
    throw input_error(fmt::format("margin is {}; accepted: 0 or more and below 1", options.margin));
}

} // namespace

const std::vector<const Strategy*>& strategies() {
  static const std::vector<const Strategy*> all = {
#define STRATEGY(name) &name##_strategy,
#include "core/search/strategies.def"
#undef STRATEGY
  };
  return all;
}

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy* each : strategies())
    if (name == each->name)
      return each;
  return nullptr;
}

const Strategy& strategy(const std::string& name) {
  if (const Strategy* found = find_strategy(name))
    return *found;
  std::vector<std::string> names;
  for (const Strategy* each : strategies())
    names.emplace_back(each->name);
  throw input_error(
      fmt::format("--strategy: {} is not accepted; accepted: {}", in_quotes(name), fmt::join(names, ", ")));
}

std::unique_ptr<Finder> make_finder(const std::string& name, const FinderOptions& options) {
  const Strategy& chosen = strategy(name);
  check(options);
  return chosen.make(options);
}

} // namespace batchscope::search
