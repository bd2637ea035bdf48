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

std::vector<std::string> cards_of_workers(const std::string& devices) {
  const std::optional<std::vector<std::string>> visible = visible_cards();
  std::vector<std::string> cards;
  std::istringstream stream(devices);
  for (std::string device; std::getline(stream, device, ',');) {
    const auto index = parse_device(device);
    if (!index)
      throw input_error(fmt::format("--device: {} is not accepted for the workers of a sweep; accepted: GPUs as in "
                                    "cuda:0,cuda:1",
                                    in_quotes(device)),
                        "device");
    if (visible && static_cast<std::size_t>(*index) >= visible->size())
      throw input_error(fmt::format("--device: {} is not visible: {} is {}", device, visible_devices,
                                    in_quotes(std::getenv(visible_devices))),
                        "device");
    const std::string card = visible ? (*visible)[static_cast<std::size_t>(*index)] : std::to_string(*index);
    if (std::find(cards.begin(), cards.end(), card) != cards.end())
      throw input_error(fmt::format("--device: {} is named twice; accepted: a GPU for each worker", device), "device");
    cards.push_back(card);
  }
  return cards;
}

} // namespace batchscope::cli
