#include "core/exchange/detail/event_log.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/detail/protobuf.h"

namespace batchscope::exchange::detail {

namespace {

/// google.protobuf.Value, where it is a number, a text or a truth value.
Json value_of_message(std::string_view message) {
  Json value;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->is(2, Wire::fixed64)) {
      value = json_of_number(*field->fixed<double>());
    } else if (field->is(3, Wire::bytes)) {
      value = std::string(field->bytes);
    } else if (field->is(4, Wire::varint)) {
      value = field->integer != 0;
    }
  }
  return value;
}

bool has_failed(std::string_view session_end_info) {
  enum { failure = 2 };
  Fields fields(session_end_info);
  while (const auto field = fields.next())
    if (field->is(1, Wire::varint))
      return field->integer == failure;
  return false;
}

std::string name_of_experiment(std::string_view experiment) {
  std::string name;
  Fields fields(experiment);
  while (const auto field = fields.next())
    if (field->is(6, Wire::bytes))
      name = field->bytes;
  return name;
}

} // namespace

void EventLog::read(const std::filesystem::path& file) {
  std::ifstream in = opened(file);
  EventReader reader(in);
  const EventSink sink{.scalar = [this](const ScalarEvent& event) { add(event); },
                       .restart = [this](std::int64_t step) { restart(step); },
                       .hparams = [this](std::string_view data) { add_hparams(data); }};
  std::int64_t damaged = 0;
  std::uint64_t first = 0;
  for (;;) {
    try {
      while (reader.read_record(sink))
        continue;
      break;
    } catch (const Error&) {
      const std::uint64_t at = reader.position();
      const bool more = reader.skip_damaged();
      if (!more && at == 0)
        throw;
      if (++damaged == 1)
        first = at;
      if (!more)
        break;
    }
  }
  if (damaged > 0)
    remarks_.push_back(damage_remark(file, damaged, first));
}

void EventLog::add(const ScalarEvent& event) {
  started_ = std::min(started_.value_or(event.wall_time), event.wall_time);
  std::vector<Point>& points = scalars_[event.tag];
  for (; !points.empty() && points.back().step >= event.step; points.pop_back())
    dropped_ += points.back().step > event.step ? 1 : 0;
  points.push_back({event.step, event.value, event.wall_time});
}

void EventLog::restart(std::int64_t step) {
  for (auto& [tag, points] : scalars_)
    for (; !points.empty() && points.back().step >= step; points.pop_back())
      ++dropped_;
  std::erase_if(scalars_, [](const auto& series) { return series.second.empty(); });
}

/// A message HParamsPluginData.
void EventLog::add_hparams(std::string_view plugin_data) {
  Fields fields(plugin_data);
  while (const auto field = fields.next())
    if (field->is(2, Wire::bytes)) {
      if (const std::string name = name_of_experiment(field->bytes); !name.empty())
        hparams_["experiment"] = name;
    } else if (field->is(3, Wire::bytes)) {
      add_session(field->bytes);
    } else if (field->is(4, Wire::bytes)) {
      failed_ = detail::has_failed(field->bytes);
    }
}

void EventLog::add_session(std::string_view session_start_info) {
  Fields fields(session_start_info);
  while (const auto field = fields.next()) {
    std::string name;
    Json value;
    Fields entry(field->is(1, Wire::bytes) ? field->bytes : std::string_view());
    while (const auto member = entry.next())
      if (member->is(1, Wire::bytes))
        name = member->bytes;
      else if (member->is(2, Wire::bytes))
        value = value_of_message(member->bytes);
    if (!name.empty() && !value.is_null())
      hparams_[name] = std::move(value);
  }
}

std::optional<std::string> tag_in_run(const std::filesystem::path& folder, const std::string& tag) {
  std::string beginning = tag;
  std::replace(beginning.begin(), beginning.end(), '/', '_');
  beginning += '_';
  const std::string name = folder.generic_string();
  if (!name.starts_with(beginning) || name.size() == beginning.size())
    return std::nullopt;
  const std::string rest = name.substr(beginning.size());
  for (const char* training : {"train", "training"})
    if (rest == training)
      return "train/" + tag;
  for (const char* validation : {"val", "valid", "validation", "eval"})
    if (rest == validation)
      return "val/" + tag;
  return tag + "/" + rest;
}

std::optional<std::filesystem::path> folder_above(const std::filesystem::path& folder,
                                                  const std::set<std::filesystem::path>& folders) {
  for (std::filesystem::path above = folder.parent_path(); above != above.parent_path(); above = above.parent_path())
    if (folders.contains(above))
      return above;
  return std::nullopt;
}

} // namespace batchscope::exchange::detail
