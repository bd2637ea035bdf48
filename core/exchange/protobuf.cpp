#include "core/exchange/detail/protobuf.h"

#include <bit>

namespace batchscope::exchange::detail {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in memory");

std::optional<Field> Fields::next() {
  const auto key = varint();
  if (!key)
    return std::nullopt;
  Field field{.number = static_cast<int>(*key >> 3), .wire = static_cast<Wire>(*key & 7), .bytes = {}};
  switch (field.wire) {
  case Wire::varint: {
    const auto value = varint();
    if (!value)
      return std::nullopt;
    field.integer = *value;
    return field;
  }
  case Wire::fixed64:
    return with_bytes(field, 8);
  case Wire::fixed32:
    return with_bytes(field, 4);
  case Wire::bytes: {
    const auto size = varint();
    return size ? with_bytes(field, *size) : std::nullopt;
  }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Fields::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

std::optional<Field> Fields::with_bytes(Field field, std::uint64_t size) {
  if (size > rest_.size())
    return std::nullopt;
  field.bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return field;
}

void append_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

void append_key(std::string& text, int field, Wire wire) {
  append_varint(text, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}

void append_bytes(std::string& text, int field, std::string_view bytes) {
  append_key(text, field, Wire::bytes);
  append_varint(text, bytes.size());
  text += bytes;
}

} // namespace batchscope::exchange::detail
