#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/input_file.h"

namespace batchscope::data {

/// Reads an array in NumPy's format (NPY 1 to 3): booleans, integers of 1 to 8 bytes, and floats of 2, 4 or 8 bytes,
/// of either byte order, in C or Fortran order. All functions throw Error (input) naming the file.
class NpyReader {
public:
  /// Reads the header; the shape is checked against the bytes that follow when they are read.
  explicit NpyReader(InputBytes& bytes);

  const std::vector<std::int64_t>& shape() const { return shape_; } ///< each dimension at least 1
  std::string shape_text() const;                                   ///< `(100, 28, 28)`, as Python prints it
  std::int64_t count() const { return count_; }                     ///< elements
  bool has_bytes() const { return kind_ == 'u' && size_ == 1; }
  bool has_floats() const { return kind_ == 'f'; }

  // Read all elements, in C order; one of these, once.
  std::vector<std::uint8_t> read_bytes();    ///< for has_bytes()
  std::vector<float> read_floats();          ///< refuses elements that are not finite as floats
  std::vector<std::int64_t> read_integers(); ///< not for has_floats(); refuses those above the largest
  [[noreturn]] void refuse(const std::string& why) const { bytes_.refuse(why); }

private:
  void read_header();
  template <typename Value, typename Decode> std::vector<Value> read_as(const Decode& decode);

  InputBytes& bytes_;
  char kind_ = 'f'; ///< b, u, i or f
  std::size_t size_ = 4;
  bool big_endian_ = false;
  bool fortran_ = false;
  std::vector<std::int64_t> shape_;
  std::int64_t count_ = 0;
};

} // namespace batchscope::data
