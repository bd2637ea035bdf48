#include "core/estimate/cards.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/base/text.h"

namespace batchscope::estimate {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// A CUDA context takes 0.3 to 0.6 GB, the workspaces of cuBLAS and cuDNN some 0.1 GB.
constexpr double context_bytes = 0.7e9;
/// Fraction of the nominal memory that error correction and the driver take.
constexpr double kept_by_driver = 0.02;
constexpr std::size_t max_suggestions = 3;

Card parse_card(const std::string& line) {
  std::istringstream fields(line);
  Card card;
  std::string memory, bandwidth, year, capability, multiprocessors;
  std::getline(fields, card.name, ',');
  std::getline(fields, memory, ',');
  std::getline(fields, bandwidth, ',');
  std::getline(fields, year, ',');
  std::getline(fields, capability, ',');
  std::getline(fields, multiprocessors, ',');
  std::getline(fields, card.source);
  if (card.source.empty())
    throw Error(Error::Kind::failed, "the table of cards is damaged: \"" + shortened(line) + "\"");
  card.memory_bytes = static_cast<std::uint64_t>(std::llround(std::stod(memory) * gib));
  card.bandwidth = std::stod(bandwidth) * 1e9;
  card.year = std::stoi(year);
  card.capability = static_cast<int>(std::lround(10 * std::stod(capability)));
  card.multiprocessors = std::stoi(multiprocessors);
  return card;
}

std::vector<Card> read_cards() {
  const auto path = resources_folder() / "cards" / "cards.csv";
  std::ifstream file(path);
  if (!file)
    throw Error(Error::Kind::failed, "the table of cards cannot be read: " + path.string());
  std::vector<Card> cards;
  std::string line;
  std::getline(file, line); // titles
  while (std::getline(file, line)) {
    if (!line.empty())
      cards.push_back(parse_card(line));
  }
  return cards;
}

/// Lower case, without what people write between the parts: "RTX 4090" and "rtx_4090" are "rtx-4090".
std::string normalized(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// Levenshtein distance.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// Names that contain the text come first, then those that differ least.
std::vector<std::string> nearest(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> all;
  for (const Card& card : cards()) {
    const bool contains =
        !name.empty() && (card.name.find(name) != std::string::npos || name.find(card.name) != std::string::npos);
    all.emplace_back(contains ? 0 : 1 + distance(name, card.name), card.name);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(max_suggestions, all.size()); ++i)
    names.push_back(all[i].second);
  return names;
}

std::uint64_t kept_of(std::uint64_t memory_bytes) {
  return static_cast<std::uint64_t>(kept_by_driver * static_cast<double>(memory_bytes));
}

} // namespace

const std::vector<Card>& cards() {
  static const std::vector<Card> all = read_cards();
  return all;
}

std::string card_memory_text(std::uint64_t bytes) {
  return fmt::format("{:.0f} GB", static_cast<double>(bytes) / gib);
}

std::string usable_text(const Target& target) {
  return fmt::format("{:.1f} GiB ({})", static_cast<double>(target.usable_bytes()) / gib,
                     format_bytes(target.usable_bytes()));
}

pretended_gpu::Gpu pretended(const Target& card) {
  return {.name = card.name,
          .memory_bytes = card.memory_bytes,
          .capability = card.capability,
          .multiprocessors = card.multiprocessors,
          .context_bytes = card.overhead_bytes};
}

std::vector<NotIncluded> not_included(const Target& card) {
  return {{"the CUDA context, libraries and kernels", static_cast<std::uint64_t>(context_bytes)},
          {"driver and error correction", kept_of(card.memory_bytes)},
          {"workspaces of cuDNN, which convolutions need", 0}};
}

std::string not_included_text(const Target& card) {
  std::vector<std::string> parts;
  for (const NotIncluded& each : not_included(card))
    parts.push_back(each.left_bytes > 0 ? fmt::format("{} ({} left for them)", each.what, format_bytes(each.left_bytes))
                                        : each.what + " (nothing is left for them)");
  return fmt::format("{}", fmt::join(parts, "; "));
}

Target parse_target(const std::string& text, const std::string& option) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0)
    return {.name = {}, .memory_bytes = parse_size(text, option), .overhead_bytes = 0};
  const std::string name = normalized(text);
  for (const Card& card : cards()) {
    if (card.name == name) {
      return {.name = card.name,
              .memory_bytes = card.memory_bytes,
              .overhead_bytes = static_cast<std::uint64_t>(context_bytes) + kept_of(card.memory_bytes),
              .capability = card.capability,
              .multiprocessors = card.multiprocessors};
    }
  }
  throw input_error(fmt::format("{}: unknown GPU {}; nearest: {}; accepted: a size (24GB) or a name of `estimate "
                                "--cards`",
                                option, in_quotes(text), fmt::join(nearest(name), ", ")));
}

} // namespace batchscope::estimate
