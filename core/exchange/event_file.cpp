#include "core/exchange/detail/event_file.h"

#include <algorithm>
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

constexpr std::size_t head_bytes = 12; ///< a size and its checksum
constexpr std::size_t tail_bytes = 4;  ///< the checksum of the data

/// As the format stores checksums, so that a file within a file is not taken for its records.
std::uint32_t masked(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/// The size of a record from its head; nothing if that is damaged.
std::optional<std::uint64_t> size_in(std::string_view head) {
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::memcpy(&size, head.data(), sizeof size);
  std::memcpy(&crc, head.data() + sizeof size, sizeof crc);
  return masked(crc32c(head.substr(0, sizeof size))) == crc && size <= max_record ? std::optional(size) : std::nullopt;
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

/// The data of the plugin hparams in a SummaryMetadata; nothing for another plugin.
std::optional<std::string_view> hparams_in(std::string_view metadata) {
  std::string_view plugin, content;
  Fields fields(metadata);
  while (const auto field = fields.next()) {
    Fields data(field->is(1, Wire::bytes) ? field->bytes : std::string_view());
    while (const auto member = data.next())
      if (member->is(1, Wire::bytes))
        plugin = member->bytes;
      else if (member->is(2, Wire::bytes))
        content = member->bytes;
  }
  return plugin == "hparams" ? std::optional(content) : std::nullopt;
}

/// A value of a summary. `event`: has its step and time.
void read_value(std::string_view message, ScalarEvent& event, const EventSink& sink) {
  std::optional<double> value;
  event.tag.clear();
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->is(1, Wire::bytes))
      event.tag = field->bytes;
    else if (field->is(2, Wire::fixed32))
      value = *field->fixed<float>();
    else if (field->is(8, Wire::bytes))
      value = scalar_of_tensor(field->bytes);
    else if (field->is(9, Wire::bytes) && sink.hparams)
      if (const auto content = hparams_in(field->bytes))
        sink.hparams(*content);
  }
  event.value = value.value_or(0);
  if (value && !event.tag.empty() && !event.tag.starts_with("_hparams_/") && sink.scalar)
    sink.scalar(event);
}

/// Whether a SessionLog says that a session begins.
bool is_start(std::string_view session_log) {
  enum { start = 1 };
  Fields fields(session_log);
  while (const auto field = fields.next())
    if (field->is(1, Wire::varint))
      return field->integer == start;
  return false;
}

void read_event(std::string_view message, const EventSink& sink) {
  ScalarEvent event;
  std::vector<std::string_view> summaries;
  bool restarts = false;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->is(1, Wire::fixed64))
      event.wall_time = *field->fixed<double>();
    else if (field->is(2, Wire::varint))
      event.step = static_cast<std::int64_t>(field->integer);
    else if (field->is(5, Wire::bytes))
      summaries.push_back(field->bytes);
    else if (field->is(7, Wire::bytes))
      restarts = is_start(field->bytes);
  }
  if (restarts && sink.restart)
    sink.restart(event.step);
  for (const std::string_view summary : summaries) {
    Fields values(summary);
    while (const auto value = values.next())
      if (value->is(1, Wire::bytes))
        read_value(value->bytes, event, sink);
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

std::uint64_t EventReader::bytes_behind(std::uint64_t place) {
  const auto before = in_.tellg();
  in_.seekg(0, std::ios::end);
  const auto end = static_cast<std::uint64_t>(std::max<std::streamoff>(in_.tellg(), 0));
  in_.seekg(before);
  return end > place ? end - place : 0;
}

std::optional<std::string> EventReader::record() {
  constexpr std::uint64_t believed = 1 << 16; // more only as far as the file goes
  std::array<char, head_bytes> head{};
  if (!in_.read(head.data(), head.size()))
    return std::nullopt;
  const auto size = size_in({head.data(), head.size()});
  if (!size)
    throw input_error(position_ == 0 ? "not a TensorBoard event file"
                                     : fmt::format("damaged: the record at byte {} has a wrong checksum", position_));
  if (*size > believed && *size > bytes_behind(position_ + head_bytes))
    return std::nullopt;
  std::uint32_t crc = 0;
  std::string data(*size, '\0');
  if (!in_.read(data.data(), static_cast<std::streamsize>(*size)) ||
      !in_.read(reinterpret_cast<char*>(&crc), sizeof crc))
    return std::nullopt;
  if (masked(crc32c(data)) != crc)
    throw input_error(fmt::format("damaged: the record at byte {} has a wrong checksum", position_));
  position_ += head_bytes + *size + tail_bytes;
  return data;
}

bool EventReader::skip_damaged() {
  constexpr std::size_t part = 1 << 16;
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(position_));
  std::string bytes(head_bytes, '\0');
  in_.read(bytes.data(), head_bytes);
  // Its head may be sound; the next record is then known, and found at once.
  const auto size = in_ ? size_in(bytes) : std::nullopt;
  position_ += size ? head_bytes + *size + tail_bytes : 1;
  for (;;) {
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(position_));
    bytes.resize(part);
    in_.read(bytes.data(), part);
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in_.gcount(), 0)));
    in_.clear();
    if (bytes.size() < head_bytes)
      return false;
    for (std::size_t i = 0; i + head_bytes <= bytes.size(); ++i)
      if (const auto next = size_in(std::string_view(bytes).substr(i, head_bytes));
          next && *next + head_bytes + tail_bytes <= bytes_behind(position_ + i)) {
        position_ += i;
        in_.seekg(static_cast<std::streamoff>(position_));
        return true;
      }
    position_ += bytes.size() - (head_bytes - 1);
  }
}

void EventReader::read(const std::function<void(const ScalarEvent&)>& take) {
  const EventSink sink{.scalar = take, .restart = {}, .hparams = {}};
  while (read_record(sink))
    continue;
}

bool EventReader::read_record(const EventSink& sink) {
  const auto data = record();
  if (data)
    read_event(*data, sink);
  return data.has_value();
}

} // namespace batchscope::exchange::detail
