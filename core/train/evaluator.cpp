#include "core/train/detail/evaluator.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/error.h"

namespace batchscope::train {

namespace {

/// Larger evaluation batches are not faster.
constexpr std::int64_t max_at_once = 512;

} // namespace

std::optional<Validation> Evaluator::run(std::int64_t batch, const std::function<bool()>& stop) {
  const data::Dataset* data = learner_.validation_data();
  if (data == nullptr || data->size() == 0)
    return std::nullopt;
  std::vector<std::int64_t> indices;
  EvaluationSums sums;
  std::int64_t position = 0;
  if (shortage_.over(learner_.device()))
    largest_ = INT64_MAX;
  std::int64_t size = std::min({batch, largest_, max_at_once});
  while (position < data->size()) {
    if (stop())
      return std::nullopt;
    const std::int64_t count = std::min(size, data->size() - position);
    indices.resize(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), position);
    const auto part = learner_.evaluate(indices);
    if (part) {
      sums.loss += part->loss;
      sums.terms += part->terms;
      sums.correct += part->correct;
      position += count;
      continue;
    }
    const memory::OutOfMemoryInfo info = learner_.device().take_last_oom().value_or(memory::OutOfMemoryInfo{});
    if (count <= 1)
      throw Error(Error::Kind::failed,
                  "out of memory: even one validation example does not fit; raise the memory budget or choose a "
                  "smaller model");
    size = largest_ = count / 2;
    shortage_.begin(info, learner_.device());
    on_shrink_(count, size, info);
  }
  Validation result;
  result.loss = sums.loss / static_cast<double>(sums.terms);
  if (learner_.has_accuracy())
    result.accuracy = static_cast<double>(sums.correct) / static_cast<double>(sums.terms);
  return result;
}

} // namespace batchscope::train
