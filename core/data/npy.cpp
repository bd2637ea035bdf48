#include "core/data/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/host.h"
#include "core/base/text.h"

namespace batchscope::data {

namespace {

constexpr std::size_t max_header = 1U << 20;
constexpr std::size_t max_dimensions = 32;

/// The header: a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderText {
public:
  HeaderText(std::string_view text, const InputBytes& bytes) : text_(text), bytes_(bytes) {}

  bool take(char sign) {
    skip_blanks();
    if (text_.empty() || text_.front() != sign)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char sign) {
    if (!take(sign))
      damaged();
  }
  std::string_view quoted() {
    skip_blanks();
    const char quote = text_.empty() ? ' ' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      damaged();
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::string_view word() {
    skip_blanks();
    std::size_t end = 0;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end])) != 0)
      ++end;
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(end);
    return found;
  }
  [[noreturn]] void damaged() const { bytes_.refuse("the header of the array is damaged"); }

private:
  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size())); }

  std::string_view text_;
  const InputBytes& bytes_;
};

std::vector<std::int64_t> shape_in(HeaderText& text) {
  std::vector<std::int64_t> shape;
  text.expect('(');
  while (!text.take(')')) {
    std::string_view digits = text.word();
    if (digits.ends_with('L')) // Python 2
      digits.remove_suffix(1);
    std::int64_t size = 0;
    for (const char digit : digits)
      if (digit < '0' || digit > '9' || __builtin_mul_overflow(size, 10, &size) ||
          __builtin_add_overflow(size, digit - '0', &size))
        text.damaged();
    if (digits.empty() || shape.size() == max_dimensions)
      text.damaged();
    shape.push_back(size);
    if (!text.take(',')) {
      text.expect(')');
      break;
    }
  }
  return shape;
}

template <typename Integer> Integer number_at(const std::uint8_t* from, bool swapped) {
  std::array<std::uint8_t, sizeof(Integer)> bytes{};
  std::memcpy(bytes.data(), from, bytes.size());
  if (swapped)
    std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Integer>(bytes);
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 0x1F)
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename Value> Value value_of(char kind, std::size_t size, const std::uint8_t* from, bool swapped) {
  if (kind == 'f')
    return static_cast<Value>(size == 2   ? half_value(number_at<std::uint16_t>(from, swapped))
                              : size == 4 ? static_cast<double>(number_at<float>(from, swapped))
                                          : number_at<double>(from, swapped));
  const bool with_sign = kind == 'i';
  switch (size) {
  case 1:
    return with_sign ? static_cast<Value>(number_at<std::int8_t>(from, false)) : static_cast<Value>(*from);
  case 2:
    return with_sign ? static_cast<Value>(number_at<std::int16_t>(from, swapped))
                     : static_cast<Value>(number_at<std::uint16_t>(from, swapped));
  case 4:
    return with_sign ? static_cast<Value>(number_at<std::int32_t>(from, swapped))
                     : static_cast<Value>(number_at<std::uint32_t>(from, swapped));
  default:
    return with_sign ? static_cast<Value>(number_at<std::int64_t>(from, swapped))
                     : static_cast<Value>(number_at<std::uint64_t>(from, swapped));
  }
}

/// The C order of elements that come in Fortran order, in which the first index changes fastest.
template <typename Value>
std::vector<Value> in_c_order(const std::vector<Value>& values, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> steps(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i)
    steps[i - 1] = steps[i] * shape[i];
  std::vector<Value> ordered(values.size());
  std::vector<std::int64_t> index(shape.size());
  std::int64_t to = 0;
  for (const Value value : values) {
    ordered[static_cast<std::size_t>(to)] = value;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      to += steps[i];
      if (++index[i] < shape[i])
        break;
      to -= steps[i] * shape[i];
      index[i] = 0;
    }
  }
  return ordered;
}

} // namespace

NpyReader::NpyReader(InputBytes& bytes) : bytes_(bytes) {
  read_header();
  count_ = 1;
  std::int64_t total = 0;
  for (const std::int64_t size : shape_)
    if (size == 0 || __builtin_mul_overflow(count_, size, &count_) ||
        __builtin_mul_overflow(count_, static_cast<std::int64_t>(size_), &total))
      refuse(
          fmt::format("the shape of the array is {}; accepted: at least one element, and no more than the file holds",
                      shape_text()));
}

void NpyReader::read_header() {
  const std::vector<std::uint8_t> start = bytes_.read(8, "the array's magic number and version");
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
    refuse("is not an array in NumPy's format (.npy)");
  if (start[6] < 1 || start[6] > 3)
    refuse(fmt::format("has version {}.{} of NumPy's format; accepted: 1 to 3", start[6], start[7]));
  const std::vector<std::uint8_t> length = bytes_.read(start[6] == 1 ? 2 : 4, "the length of the array's header");
  const std::size_t size =
      start[6] == 1 ? number_at<std::uint16_t>(length.data(), false) : number_at<std::uint32_t>(length.data(), false);
  if (size > max_header)
    refuse(fmt::format("the header of the array has {} bytes; accepted: at most {}", size, max_header));
  const std::vector<std::uint8_t> header = bytes_.read(size, "the header of the array");
  HeaderText text({reinterpret_cast<const char*>(header.data()), header.size()}, bytes_);
  std::string type;
  text.expect('{');
  while (!text.take('}')) {
    const std::string_view key = text.quoted();
    text.expect(':');
    if (key == "descr") {
      if (text.take('[')) // of fields
        refuse("has elements of several fields; accepted: booleans, integers and floats");
      type = text.quoted();
    } else if (key == "fortran_order") {
      fortran_ = text.word() == "True";
    } else if (key == "shape") {
      shape_ = shape_in(text);
    } else {
      text.damaged();
    }
    text.take(',');
  }
  const bool known = type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos &&
                     ((type[1] == 'b' && type[2] == '1') ||
                      (std::string_view("ui").find(type[1]) != std::string_view::npos &&
                       std::string_view("1248").find(type[2]) != std::string_view::npos) ||
                      (type[1] == 'f' && std::string_view("248").find(type[2]) != std::string_view::npos));
  if (!known)
    refuse(fmt::format("has elements of type {}; accepted: b1, u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8",
                       in_quotes(type)));
  big_endian_ = type[0] == '>';
  kind_ = type[1];
  size_ = static_cast<std::size_t>(type[2] - '0');
}

std::string NpyReader::shape_text() const {
  return fmt::format("({}{})", fmt::join(shape_, ", "), shape_.size() == 1 ? "," : "");
}

template <typename Value, typename Decode> std::vector<Value> NpyReader::read_as(const Decode& decode) {
  const auto count = static_cast<std::uint64_t>(count_);
  if (count * size_ > bytes_.max_bytes() - std::min(bytes_.offset(), bytes_.max_bytes()))
    refuse(fmt::format("{} at offset {}; the array of shape {} needs {} bytes from offset {}",
                       bytes_.compressed() ? "ends at the latest" : "ends", bytes_.max_bytes(), shape_text(),
                       count * size_, bytes_.offset()));
  const std::uint64_t needed = count * sizeof(Value) * (fortran_ ? 2 : 1);
  if (needed > free_host_memory())
    refuse(fmt::format("needs {} of memory, and {} are free", format_bytes(needed), format_bytes(free_host_memory())));
  constexpr std::uint64_t at_a_time = 1U << 20;
  std::vector<Value> values;
  values.reserve(count);
  while (values.size() < count) {
    const std::uint64_t some = std::min(count - values.size(), at_a_time);
    const std::vector<std::uint8_t> raw = bytes_.read(some * size_, fmt::format("{} elements", count));
    for (std::uint64_t i = 0; i < some; ++i)
      values.push_back(decode(raw.data() + i * size_, values.size()));
  }
  bytes_.expect_end("the last element");
  return fortran_ && shape_.size() > 1 ? in_c_order(values, shape_) : values;
}

std::vector<std::uint8_t> NpyReader::read_bytes() {
  return read_as<std::uint8_t>([](const std::uint8_t* from, std::size_t /*index*/) { return *from; });
}

std::vector<float> NpyReader::read_floats() {
  return read_as<float>([this](const std::uint8_t* from, std::size_t index) {
    const auto value = value_of<double>(kind_, size_, from, big_endian_);
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(narrow))
      refuse(fmt::format("element {} is {}; accepted: finite numbers up to 3e38", index, value));
    return narrow;
  });
}

std::vector<std::int64_t> NpyReader::read_integers() {
  return read_as<std::int64_t>([this](const std::uint8_t* from, std::size_t index) {
    const auto value = value_of<std::int64_t>(kind_, size_, from, big_endian_);
    if (kind_ == 'u' && value < 0)
      refuse(fmt::format("element {} is above {}", index, std::numeric_limits<std::int64_t>::max()));
    return value;
  });
}

} // namespace batchscope::data
