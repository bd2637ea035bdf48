#include <fmt/format.h>

#include "core/advice/rescale.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::advice {

namespace {

constexpr std::int64_t largest_batch = 1'000'000'000'000;

std::vector<std::string> split_sizes(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

StepSizes sizes_of(const std::vector<std::string>& parts, const std::string& option) {
  const auto part = [&](std::size_t i, const char* name) {
    return parse_integer(parts[i], option + ": " + name, 1, largest_batch);
  };
  const StepSizes sizes{part(0, "batch"), part(1, "accumulation"), part(2, "ranks")};
  if (static_cast<double>(sizes.batch) * static_cast<double>(sizes.accumulate) * static_cast<double>(sizes.ranks) >
      static_cast<double>(largest_batch))
    throw input_error(fmt::format("{}: the effective batch of {} x {} x {} is too large; accepted: up to {}", option,
                                  sizes.batch, sizes.accumulate, sizes.ranks, largest_batch));
  return sizes;
}

} // namespace

StepSizes parse_sizes(const std::string& text, const std::string& option) {
  const auto parts = split_sizes(text);
  if (parts.size() != 3)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: batch,accumulation,ranks such as 64,4,2", option,
                                  in_quotes(text)));
  return sizes_of(parts, option);
}

Recipe parse_recipe(const std::string& text, const std::string& option) {
  const auto parts = split_sizes(text);
  if (parts.size() != 4)
    throw input_error(
        fmt::format("{}: {} is not accepted; accepted: batch,accumulation,ranks,learning rate such as 32,1,1,0.1",
                    option, in_quotes(text)));
  Recipe recipe;
  recipe.sizes = sizes_of(parts, option);
  recipe.learning_rate = parse_number(parts[3], option + ": learning rate");
  if (!(recipe.learning_rate > 0))
    throw input_error(
        fmt::format("{}: a learning rate of {} is not accepted; accepted: above 0", option, in_quotes(parts[3])));
  return recipe;
}

} // namespace batchscope::advice
