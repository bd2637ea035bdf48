#pragma once

#include <cstdint>
#include <filesystem>
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

/// Writes the network of cnn:width=8 for images of 1x16x16 pixels and 10 classes as TorchScript, and returns the text
/// that names it as a model.
std::string cnn_as_script(const std::filesystem::path& folder);

} // namespace batchscope::bench
