#include "core/exchange/detail/event_file.h"

#include <array>
#include <bit>
#include <cstring>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/exchange/detail/protobuf.h"

namespace batchscope::exchange::detail {

static_assert(std::endian::native == std::endian::little, "records are copied as they are in memory");

namespace {

constexpr std::uint64_t max_record = 1ULL << 30;

/// As the format stores checksums, so that a file within a file is not taken for its records.
std::uint32_t masked(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

template <typename Value> void append(std::string& text, Value value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The number of a TensorProto with one element of a real or whole type.
std::optional<double> scalar_of_tensor(std::string_view tensor) {
  enum { type_float = 1, type_double = 2, type_int32 = 3, type_int64 = 9 };
  std::uint64_t type = 0;
  std::string_view content;
  std::optional<double> value;
  Fields fields(tensor);
  while (const auto field = fields.next()) {
    if (field->number == 1)
      type = field->integer;
    else if (field->number == 4)
      content = field->bytes;
    else if (field->number == 5 && field->bytes.size() == 4) // float_val, packed or not
      value = *field->fixed<float>();
    else if (field->number == 6 && field->bytes.size() == 8) // double_val
      value = *field->fixed<double>();
  }
  const Field raw{.bytes = content};
  if (type == type_float && content.size() == 4)
    return raw.fixed<float>();
  if (type == type_double && content.size() == 8)
    return raw.fixed<double>();
  if (type == type_int32 && content.size() == 4)
    return raw.fixed<std::int32_t>();
  if (type == type_int64 && content.size() == 8)
    return static_cast<double>(*raw.fixed<std::int64_t>());
  return value;
}

/// Sets tag and value; false if the value is no scalar.
bool read_value(std::string_view message, ScalarEvent& event) {
  std::optional<double> value;
  event.tag.clear();
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1)
      event.tag = field->bytes;
    else if (field->number == 2 && field->wire == Wire::fixed32)
      value = *field->fixed<float>();
    else if (field->number == 8 && field->wire == Wire::bytes)
      value = scalar_of_tensor(field->bytes);
  }
  event.value = value.value_or(0);
  return value && !event.tag.empty();
}

void read_event(std::string_view message, const std::function<void(const ScalarEvent&)>& take) {
  ScalarEvent event;
  std::vector<std::string_view> summaries;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1 && field->wire == Wire::fixed64)
      event.wall_time = *field->fixed<double>();
    else if (field->number == 2)
      event.step = static_cast<std::int64_t>(field->integer);
    else if (field->number == 5)
      summaries.push_back(field->bytes);
  }
  for (const std::string_view summary : summaries) {
    Fields values(summary);
    while (const auto value = values.next())
      if (value->number == 1 && read_value(value->bytes, event))
        take(event);
  }
}

} // namespace

EventWriter::EventWriter(std::ostream& out, double wall_time) : out_(out) {
  append_key(event_, 1, Wire::fixed64);
  append(event_, wall_time);
  append_bytes(event_, 3, "brain.Event:2");
  record(event_);
}

void EventWriter::write(const ScalarEvent& event) {
  std::string value;
  append_bytes(value, 1, event.tag);
  append_key(value, 2, Wire::fixed32);
  append(value, static_cast<float>(event.value));
  summary_.clear();
  append_bytes(summary_, 1, value);
  event_.clear();
  append_key(event_, 1, Wire::fixed64);
  append(event_, event.wall_time);
  append_key(event_, 2, Wire::varint);
  append_varint(event_, static_cast<std::uint64_t>(event.step));
  append_bytes(event_, 5, summary_);
  record(event_);
}

void EventWriter::record(std::string_view data) {
  std::string head;
  append(head, static_cast<std::uint64_t>(data.size()));
  append(head, masked(crc32c(head)));
  std::string tail;
  append(tail, masked(crc32c(data)));
  out_ << head << data << tail;
}

EventReader::EventReader(std::istream& in, std::uint64_t position) : in_(in), position_(position) {
  in_.seekg(static_cast<std::streamoff>(position));
}

std::optional<std::string> EventReader::record() {
  std::array<char, 12> head{};
  if (!in_.read(head.data(), head.size()))
    return std::nullopt;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::memcpy(&size, head.data(), 8);
  std::memcpy(&crc, head.data() + 8, 4);
  if (masked(crc32c({head.data(), 8})) != crc || size > max_record)
    throw input_error(position_ == 0 ? "not a TensorBoard event file"
                                     : fmt::format("damaged: the record at byte {} has a wrong checksum", position_));
  std::string data(size, '\0');
  if (!in_.read(data.data(), static_cast<std::streamsize>(size)) ||
      !in_.read(reinterpret_cast<char*>(&crc), sizeof crc))
    return std::nullopt;
  if (masked(crc32c(data)) != crc)
    throw input_error(fmt::format("damaged: the record at byte {} has a wrong checksum", position_));
  position_ += head.size() + size + sizeof crc;
  return data;
}

void EventReader::read(const std::function<void(const ScalarEvent&)>& take) {
  while (read_record(take))
    continue;
}

bool EventReader::read_record(const std::function<void(const ScalarEvent&)>& take) {
  const auto data = record();
  if (data)
    read_event(*data, take);
  return data.has_value();
}

} // namespace batchscope::exchange::detail
