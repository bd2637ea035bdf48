#include "core/advice/detail/computed_memory.h"

#include <cmath>

#include <fmt/format.h>

#include "core/advice/sources.h"
#include "core/base/text.h"
#include "core/estimate/formula.h"

namespace batchscope::advice::detail {

namespace {

constexpr double sequence = 2048;
constexpr double lora_rank = 16;

/// The published model whose size differs by the smallest factor, at most 1.4.
std::optional<TableRow> shape_of(double parameters) {
  constexpr double most = 1.4;
  std::optional<TableRow> best;
  double smallest = std::log(most);
  for (const TableRow& row : read_table("shapes").rows) {
    const double factor = std::abs(std::log(parameters / (std::stod(row.at("billions")) * 1e9)));
    if (factor <= smallest) {
      smallest = factor;
      best = row;
    }
  }
  return best;
}

std::string examples_text(std::int64_t count) {
  return count == 1 ? "1 example" : format_count(count) + " examples";
}

} // namespace

std::string computed_memory(const Question& question) {
  if (!question.parameters || !question.memory_bytes || question.quantization.empty())
    return {};
  const auto row = shape_of(*question.parameters);
  if (!row)
    return {};
  estimate::Transformer model;
  model.parameters = std::stod(row->at("billions")) * 1e9;
  model.layers = std::stoll(row->at("layers"));
  model.width = std::stoll(row->at("hidden"));
  model.heads = std::stoll(row->at("heads"));
  model.vocabulary = std::stoll(row->at("vocabulary"));
  estimate::Training training{.sequence = sequence};
  const bool four_bit = question.quantization == "4bit";
  training.precision = four_bit ? estimate::Training::Precision::int4 : estimate::Training::Precision::fp16;
  training.lora_rank = lora_rank;
  training.checkpointing = true; // as those who fine-tune so large a model do
  const auto most = [&](estimate::Estimate (*by)(const estimate::Transformer&, const estimate::Training&)) {
    return examples_text(max_batch(by, model, training, *question.memory_bytes));
  };
  return fmt::format(
      "Computed for {} ({}) in {} with LoRA of rank {:g}, checkpointing and {} tokens: at most {} at once by "
      "formula (Korthikanti et al. 2022), {} by the rule of thumb, which counts too few activations. "
      "batchscope-cli estimate computes other cases.",
      row->at("model"), cite(row->at("source"), row->at("section")), four_bit ? "4 bit" : "16 bit", lora_rank,
      format_count(std::llround(sequence)), most(estimate::by_formula), most(estimate::rule_of_thumb));
}

} // namespace batchscope::advice::detail
