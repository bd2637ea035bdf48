#include "app/cli/sweep_cards.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

} // namespace

std::vector<std::string> visible_cards(const std::string& devices) {
  const char* set = std::getenv(visible_devices);
  const std::optional<std::vector<std::string>> visible = set != nullptr ? std::optional(parts_of(set)) : std::nullopt;
  std::vector<std::string> cards;
  for (const std::string& device : parts_of(devices)) {
    const auto index = parse_device(device);
    if (!index)
      throw input_error(fmt::format("--device: {} is not accepted for the workers of a sweep; accepted: GPUs as in "
                                    "cuda:0,cuda:1",
                                    in_quotes(device)),
                        "device");
    if (visible && static_cast<std::size_t>(*index) >= visible->size())
      throw input_error(fmt::format("--device: {} is not visible: {} is {}", device, visible_devices, in_quotes(set)),
                        "device");
    const std::string card = visible ? (*visible)[static_cast<std::size_t>(*index)] : std::to_string(*index);
    if (std::find(cards.begin(), cards.end(), card) != cards.end())
      throw input_error(fmt::format("--device: {} is named twice; accepted: a GPU for each worker", device), "device");
    cards.push_back(card);
  }
  return cards;
}

} // namespace batchscope::cli
