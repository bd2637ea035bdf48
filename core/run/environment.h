#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace batchscope::run {

/// Environment of a run besides its spec: versions, machine, threads, seed and data. Empty texts are not known.
struct Environment {
  std::string program;  ///< version of BatchScope
  std::string libtorch; ///< version of LibTorch
  std::string device;   ///< `NVIDIA H200`; for `cpu` the processor
  std::string driver;   ///< version of the GPU's driver; empty for `cpu`
  std::string cpu;      ///< the processor
  int threads = 0;      ///< host threads used for computing
  std::int64_t seed = 0;
  /// CRC-32C of the training examples as the model gets them, 8 hexadecimal digits; empty for generated examples, which
  /// the spec determines.
  std::string data_checksum;
};

/// The parts that do not depend on the engine: program and processor.
Environment environment_here();

/// The one-line JSON that the store keeps; what is not known is null.
std::string to_json(const Environment& environment);

/// For people: `LibTorch 2.15.0, 4 threads, ...`, from the JSON of a stored run, which another program may have
/// written; empty if it says nothing.
std::string environment_text(const std::string& json);

} // namespace batchscope::run
