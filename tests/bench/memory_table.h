#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::bench {

/// The peak of a real step beside that of a dry run of the same step, which was made before it.
struct MemoryRow {
  std::int64_t batch = 0;
  double real_bytes = 0;
  double dry_bytes = 0;
  double dry_milliseconds = 0;
  // Of gpt models; else 0:
  double formula_bytes = 0;
  double rule_of_thumb_bytes = 0;
};

/// All sizes of one model on data of this form.
std::vector<MemoryRow> measure_memory(const std::string& model, const std::string& data,
                                      const std::vector<std::int64_t>& batches);

} // namespace batchscope::bench
