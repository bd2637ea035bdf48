#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace batchscope::checkpoint {

/// A tensor as plain bytes in host memory, row by row, little-endian.
struct Tensor {
  std::string name;
  std::string type; ///< as in safetensors: F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL
  std::vector<std::int64_t> shape;
  std::shared_ptr<const char[]> data;
  std::size_t bytes = 0;
};

/// The tensors of a safetensors file that any program wrote, in the order of its header; several may share one buffer.
/// Everything that the header says is checked against the file. Throws Error (input) naming the file and what is wrong:
/// another format, cut off, an unknown type, offsets that do not match the shape, overlap or leave bytes out.
std::vector<Tensor> read_safetensors(const std::filesystem::path& file);

/// The file appears whole, and on the disk, or not at all; one that is there is replaced. Throws Error if it cannot be
/// written.
void write_safetensors(const std::filesystem::path& file, const std::vector<Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

} // namespace batchscope::checkpoint
