#pragma once

#include <cstdint>
#include <string>

#include "core/schedule/progression.h"

/// Lengths and options of runs, for the tests of this folder.
namespace batchscope::schedule::test {

inline RunLength epochs(std::int64_t count) {
  return {.epochs = count, .examples = {}, .steps = {}};
}
inline RunLength examples(std::int64_t count) {
  return {.epochs = {}, .examples = count, .steps = {}};
}
inline RunLength steps(std::int64_t count) {
  return {.epochs = {}, .examples = {}, .steps = count};
}

inline ProgressionOptions options(std::int64_t examples, std::int64_t ranks, std::int64_t batch,
                                  const std::string& schedule, RunLength length) {
  ProgressionOptions result;
  result.sampler.examples = examples;
  result.sampler.ranks = ranks;
  result.batch = batch;
  result.schedule = schedule;
  result.length = length;
  return result;
}

} // namespace batchscope::schedule::test
