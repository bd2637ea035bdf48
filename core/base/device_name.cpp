#include "core/base/device_name.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope {

namespace {

constexpr std::string_view cuda_prefix = "cuda:";
constexpr int highest_gpu = 63;

} // namespace

std::optional<int> parse_device(std::string_view text) {
  if (text == "cpu")
    return std::nullopt;
  int gpu = -1;
  if (text.starts_with(cuda_prefix)) {
    const auto parsed = std::from_chars(text.data() + cuda_prefix.size(), text.data() + text.size(), gpu);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
      gpu = -1;
  }
  if (gpu < 0 || gpu > highest_gpu)
    throw input_error("--device: " + in_quotes(text) + " is not accepted; accepted: cpu, or cuda:N with the " +
                      "number of the GPU, 0 to " + std::to_string(highest_gpu));
  return gpu;
}

std::optional<std::vector<std::string>> visible_cards() {
  const char* set = std::getenv(visible_devices);
  if (set == nullptr)
    return std::nullopt;
  std::vector<std::string> cards;
  std::istringstream stream(set);
  for (std::string card; std::getline(stream, card, ',');)
    cards.push_back(card);
  return cards;
}

std::string card_of(std::string_view device) {
  const std::optional<std::vector<std::string>> cards = visible_cards();
  if (!cards || !device.starts_with(cuda_prefix))
    return {};
  const auto index = static_cast<std::size_t>(*parse_device(device));
  if (index >= cards->size() || (*cards)[index].empty())
    return {};
  const std::string& card = (*cards)[index];
  return card.starts_with("GPU-") || card.starts_with("MIG-") ? card : "GPU " + card;
}

} // namespace batchscope
