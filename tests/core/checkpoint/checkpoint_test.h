#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "core/checkpoint/checkpoint.h"

namespace batchscope::checkpoint::test {

inline Tensor tensor(const std::string& name, const std::string& type, std::vector<std::int64_t> shape,
                     const std::string& bytes) {
  const std::shared_ptr<char[]> data(new char[bytes.size()]);
  std::memcpy(data.get(), bytes.data(), bytes.size());
  return {.name = name, .type = type, .shape = std::move(shape), .data = data, .bytes = bytes.size()};
}

/// A small checkpoint with every kind of part.
inline Checkpoint small_checkpoint(std::int64_t step = 7) {
  Checkpoint checkpoint;
  checkpoint.label = {.run = "0123456789abcdef0123456789abcdef",
                      .step = step,
                      .events = 3,
                      .spec_json = R"({"model": "cnn"})",
                      .data_checksum = "89abcdef",
                      .validation_loss = 0.1,
                      .validation_accuracy = {}};
  checkpoint.texts = {{"loop", R"({"a": [1, "NaN"]})"}, {"plan", "ü\n\"quoted\""}};
  checkpoint.tensors = {
      tensor("parameters.0", "F32", {2, 3}, std::string("\0\1\2\3\4\5\6\7\xff\xfe\x80\x7f", 12) + std::string(12, 'x')),
      tensor("scalar", "F64", {}, std::string(8, '\0')), tensor("empty", "I64", {0, 4}, ""),
      tensor("generator", "U8", {5}, "bytes")};
  return checkpoint;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// What differs between the states of two runs, apart from the clock; empty if nothing does.
inline std::string difference(const Checkpoint& a, const Checkpoint& b) {
  if (a.label.step != b.label.step)
    return "the step";
  if (a.label.validation_loss != b.label.validation_loss)
    return "the validation loss";
  if (a.text("plan") != b.text("plan"))
    return a.text("plan") + " and " + b.text("plan");
  for (const Tensor& tensor : a.tensors) {
    const Tensor& other = b.tensor(tensor.name);
    if (std::string_view(tensor.data.get(), tensor.bytes) != std::string_view(other.data.get(), other.bytes))
      return tensor.name;
  }
  return a.tensors.size() == b.tensors.size() ? "" : "the number of tensors";
}

} // namespace batchscope::checkpoint::test
