#include "core/program/protocol/wire.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/program/protocol/detail/fields.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::program {

namespace {

/// Nothing of the protocol is deeper; a line of 16 MiB could be a million levels deep.
constexpr int deepest = 64;
/// Limit for all objects of a message together: each name of an object is compared with all before it.
constexpr std::size_t most_names = 1500;
constexpr std::size_t longest_name = 128; ///< bytes

/// Throws Error (input) for a line that would take long to read: names and depth are counted without reading it.
void check_size(std::string_view line) {
  int depth = 0;
  std::size_t names = 0;
  std::size_t text_begin = 0;
  std::size_t text_size = 0; // of the last text: a name, if a colon follows
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
        text_size = i - text_begin;
      }
    } else if (c == '"') {
      in_text = true;
      text_begin = i + 1;
    } else if (c == ':') {
      ++names;
      if (text_size > longest_name)
        throw input_error(fmt::format("the name of a value has more than {} bytes", longest_name));
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (depth > deepest)
      throw input_error(fmt::format("nested deeper than {} levels", deepest));
    if (names > most_names)
      throw input_error(fmt::format("more than {} names of values", most_names));
  }
}

/// Without what is no text, number or truth value.
Json scalars_of(const Json& object) {
  Json scalars = Json::object();
  for (const auto& [name, value] : object.items())
    if (value.is_string() || value.is_number() || value.is_boolean())
      scalars[name] = value;
  return scalars;
}

Hello hello_from(const Fields& fields) {
  Hello hello;
  hello.protocol = fields.integer("protocol", 0);
  hello.client = fields.text("client");
  hello.pid = fields.optional_integer("pid", 0).value_or(0);
  hello.rank = fields.optional_integer("rank", 0).value_or(0);
  hello.world = fields.optional_integer("world", 1).value_or(1);
  hello.run = fields.text("run");
  hello.step = fields.optional_integer("step", 0).value_or(0);
  hello.framework = fields.text("framework");
  hello.torch = fields.text("torch");
  hello.device = fields.text("device");
  hello.device_name = fields.text("device_name");
  hello.device_bytes = fields.optional_integer("device_bytes", 0);
  hello.examples = fields.optional_integer("examples", 0);
  hello.batch = fields.optional_integer("batch", 1);
  hello.accumulate = fields.optional_integer("accumulate", 1);
  hello.epochs = fields.optional_number("epochs");
  hello.steps = fields.optional_integer("steps", 1);
  hello.drop_last = fields.truth("drop_last");
  hello.parameters = fields.optional_integer("parameters", 0);
  hello.batch_norm = fields.truth("batch_norm");
  hello.name = fields.text("name");
  if (const Json* config = fields.object("config"))
    hello.config_json = json_text(*config);
  if (const Json* settings = fields.object("settings"))
    hello.settings_json = json_text(scalars_of(*settings));
  if (const Json* can = fields.array("can"))
    for (const Json& each : *can)
      if (each.is_string())
        hello.can.insert(each.get<std::string>());
  return hello;
}

StepMessage step_from(const Fields& fields) {
  StepMessage message{.seq = fields.integer("seq", 1),
                      .record = telemetry::unknown_record(fields.integer("step", 0)),
                      .takes = {},
                      .ask = fields.truth("ask")};
  telemetry::StepRecord& record = message.record;
  const std::vector<std::string>& names = telemetry::step_series();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto value = fields.optional_number(names[i].c_str()))
      telemetry::set(record, i, *value);
  if (const Json* takes = fields.array("takes"))
    for (const Json& take : *takes)
      message.takes.push_back(integer_in(take, "takes", 0));
  record.more = fields.numbers("more");
  return message;
}

/// A program sends its results as values only.
void add_scores(const std::vector<std::pair<std::string, double>>& values, telemetry::Evaluation& evaluation) {
  for (const auto& [name, value] : values) {
    if (name == "validation_loss")
      evaluation.loss = value;
    if (name == "validation_accuracy")
      evaluation.accuracy = value;
  }
}

EventMessage event_from(const Fields& fields) {
  const std::string kind = fields.text("kind");
  if (kind.empty())
    throw input_error("an event without a kind");
  const Json* detail = fields.object("detail");
  EventMessage message{.seq = fields.integer("seq", 1),
                       .event = telemetry::decode_event(
                           fields.optional_integer("step", 0).value_or(0),
                           fields.optional_number("seconds").value_or(std::numeric_limits<double>::quiet_NaN()), kind,
                           detail ? json_text(*detail) : std::string("{}"))};
  message.event.message = message.seq;
  message.event.values = fields.numbers("values");
  if (auto* evaluation = std::get_if<telemetry::Evaluation>(&message.event.body))
    add_scores(message.event.values, *evaluation);
  return message;
}

Applied applied_from(const Fields& fields) {
  Applied applied;
  applied.seq = fields.integer("seq", 1);
  applied.id = fields.optional_integer("id", 0).value_or(0);
  applied.step = fields.integer("step", 0);
  applied.batch = fields.optional_integer("batch", 1);
  applied.accumulate = fields.optional_integer("accumulate", 1);
  applied.rate_factor = fields.optional_number("rate_factor");
  if (const auto limit = fields.optional_integer("limit_bytes", 0))
    applied.limit_bytes = static_cast<std::uint64_t>(*limit);
  return applied;
}

EstimateMessage estimate_from(const Fields& fields) {
  EstimateMessage message{
      .seq = fields.integer("seq", 1), .method = fields.text("method"), .curve = {}, .error = fields.text("error")};
  if (const Json* curve = fields.array("curve")) {
    for (const Json& point : *curve) {
      if (!point.is_array() || point.size() < 2)
        throw input_error("a point of `curve` is not [batch, bytes, {use: bytes}]");
      EstimateMessage::Point& added = message.curve.emplace_back();
      added.batch = integer_in(point[0], "curve", 1);
      added.peak_bytes = static_cast<std::uint64_t>(integer_in(point[1], "curve", 0));
      if (point.size() > 2 && point[2].is_object())
        for (const auto& [use, bytes] : point[2].items())
          added.by.emplace_back(use, static_cast<std::uint64_t>(integer_in(bytes, "curve", 0)));
    }
  }
  if (message.curve.empty() && message.error.empty())
    throw input_error("an estimate with neither `curve` nor `error`");
  return message;
}

Bye bye_from(const Fields& fields) {
  Bye bye{.seq = fields.integer("seq", 1), .status = fields.text("status"), .reason = fields.text("reason")};
  if (bye.status != "finished" && bye.status != "stopped" && bye.status != "failed")
    throw input_error(fmt::format("status is {}; accepted: finished, stopped, failed", in_quotes(bye.status)));
  return bye;
}

std::string line_of(const Json& json) {
  return json_text(json) + "\n";
}

template <typename Value> void add(Json& json, const char* field, const std::optional<Value>& value) {
  if (value)
    json[field] = *value;
}

} // namespace

int level_of(const Hello& hello) {
  if (hello.can.count("batch") == 0)
    return 1;
  return hello.can.count("split") == 0 ? 2 : 3;
}

bool takes_first_batch(const Hello& hello) {
  return level_of(hello) >= 2 || hello.can.contains("first batch");
}

Message parse(std::string_view line) {
  check_size(line);
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded())
    throw input_error("not JSON");
  if (!json.is_object())
    throw input_error("not a JSON object");
  const Fields fields(json);
  const std::string type = fields.text("type");
  if (type.empty())
    throw input_error("no `type`");
  if (type == "hello")
    return hello_from(fields);
  if (type == "record")
    return step_from(fields);
  if (type == "event")
    return event_from(fields);
  if (type == "applied")
    return applied_from(fields);
  if (type == "trace")
    return TraceMessage{fields.integer("seq", 1), trace_from(fields)};
  if (type == "estimate")
    return estimate_from(fields);
  if (type == "spilled")
    return Spilled{fields.integer("first", 1), fields.integer("last", 1)};
  if (type == "bye")
    return bye_from(fields);
  return UnknownMessage{fields.optional_integer("seq", 1).value_or(0)};
}

std::int64_t seq_of(const Message& message) {
  return std::visit(
      [](const auto& each) -> std::int64_t {
        if constexpr (requires { each.seq; })
          return each.seq;
        else
          return 0;
      },
      message);
}

std::string to_line(const Welcome& welcome) {
  Json json{{"type", "welcome"},
            {"protocol", protocol_version},
            {"run", welcome.run},
            {"number", welcome.number},
            {"batch", json_or_null(welcome.batch)},
            {"accumulate", json_or_null(welcome.accumulate)},
            {"limit_bytes", json_or_null(welcome.limit_bytes)},
            {"on_oom", welcome.on_oom},
            {"step", welcome.step},
            {"hold", welcome.hold}};
  add(json, "rate_factor", welcome.rate_factor);
  return line_of(json);
}

std::string to_line(const Next& next) {
  return line_of({{"type", "next"},
                  {"step", next.step},
                  {"batch", next.batch},
                  {"accumulate", next.accumulate},
                  {"rate_factor", next.rate_factor},
                  {"hold", next.hold}});
}

std::string to_line(const Edit& edit) {
  Json json{{"type", "edit"}, {"id", edit.id}};
  add(json, "batch", edit.batch);
  add(json, "accumulate", edit.accumulate);
  add(json, "rate_factor", edit.rate_factor);
  add(json, "hold", edit.hold);
  add(json, "limit_bytes", edit.limit_bytes);
  return line_of(json);
}

std::string to_line(Order order) {
  const char* type = order == Order::pause ? "pause" : order == Order::resume ? "continue" : "step";
  return line_of({{"type", type}});
}

std::string stop_line(bool save) {
  return line_of({{"type", "stop"}, {"save", save}});
}

std::string stored_line(std::int64_t seq) {
  return line_of({{"type", "stored"}, {"seq", seq}});
}

std::string refuse_line(const std::string& reason) {
  return line_of({{"type", "refuse"}, {"reason", reason}});
}

std::string probe_line(const std::vector<ProbeSize>& sizes, bool then_stop) {
  Json json{{"type", "probe"}, {"sizes", Json::array()}, {"then", then_stop ? "stop" : "go-on"}};
  for (const ProbeSize& size : sizes) {
    Json entry{{"batch", size.batch}, {"trace", size.trace}, {"steps", size.steps}};
    if (!size.set)
      entry["set"] = false;
    if (size.timing)
      entry["timing"] = true;
    if (size.evaluation)
      entry["evaluation"] = *size.evaluation;
    json["sizes"].push_back(std::move(entry));
  }
  return line_of(json);
}

std::string estimate_line(const std::vector<std::int64_t>& batches) {
  return line_of({{"type", "estimate"}, {"batches", batches}});
}

} // namespace batchscope::program
