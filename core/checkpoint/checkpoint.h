#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/safetensors.h"

namespace batchscope::checkpoint {

/// Origin of a checkpoint: its run, step, settings, data and evaluation. Can be read without the tensors.
struct Label {
  std::string run;         ///< uid of the run
  std::int64_t step = 0;   ///< optimizer steps done
  std::int64_t events = 0; ///< events that the run had reported, without those that only carry values
  std::string spec_json;
  std::string data_checksum; ///< of the training examples; empty if it is not known
  /// Result of an evaluation at this step, if there was one.
  std::optional<double> validation_loss, validation_accuracy;
};

/// By which checkpoints are compared, higher is better: the validation accuracy, without accuracy the negative loss.
/// Nothing without an evaluation.
std::optional<double> score(const std::optional<double>& validation_loss,
                            const std::optional<double>& validation_accuracy);

/// The whole state of a run between two steps: a label, named texts (JSON) and named tensors. Code with state of its
/// own adds a text or a tensor under a new name. A plain value.
struct Checkpoint {
  Label label;
  std::map<std::string, std::string> texts;
  std::vector<Tensor> tensors;

  /// Throw Error (input) if there is no such part.
  const std::string& text(const std::string& name) const;
  const Tensor& tensor(const std::string& name) const;
};

/// Writes a safetensors file: label and texts are its metadata, and a last tensor `checksum` holds the CRC-32C of all
/// bytes before it. The file appears whole, and on the disk, or not at all. Returns its size in bytes. Throws Error if
/// it cannot be written (a full disk).
std::uint64_t write(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throw Error (input) naming the file and what is wrong with it: cut off, damaged, not a checkpoint, or of a newer
/// version. Only read() verifies the checksum.
Checkpoint read(const std::filesystem::path& file);
Label read_label(const std::filesystem::path& file);

} // namespace batchscope::checkpoint
