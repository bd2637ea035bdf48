#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

// Protocol buffers as they are stored: a message is a row of fields, each with its number and a kind that says how long
// it is (protobuf.dev/programming-guides/encoding).
namespace batchscope::exchange::detail {

enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message.
struct Field {
  int number = 0;
  Wire wire = Wire::varint;
  std::uint64_t integer = 0; ///< of the kind varint
  std::string_view bytes;    ///< of the kinds bytes, fixed32 and fixed64; lies in the message

  template <typename Value> std::optional<Value> fixed() const {
    Value value;
    if (bytes.size() != sizeof value)
      return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  bool is(int of_number, Wire of_kind) const { return number == of_number && wire == of_kind; }
};

/// Goes through the fields of a message, which must outlive it; ends at the first one that is damaged.
class Fields {
public:
  explicit Fields(std::string_view message) : rest_(message) {}

  std::optional<Field> next();

private:
  std::optional<std::uint64_t> varint();
  std::optional<Field> with_bytes(Field field, std::uint64_t size);

  std::string_view rest_;
};

void append_varint(std::string& text, std::uint64_t value);
/// Begins a field.
void append_key(std::string& text, int field, Wire wire);
/// Appends a whole field of the kind bytes: a text or a message.
void append_bytes(std::string& text, int field, std::string_view bytes);

} // namespace batchscope::exchange::detail
