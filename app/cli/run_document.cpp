#include "app/cli/run_document.h"

#include "app/cli/describe.h"
#include "core/store/run_reader.h"
#include "core/telemetry/describe.h"
#include "core/telemetry/event_codec.h"
#include "core/telemetry/message_json.h"

namespace batchscope::cli {

namespace {

/// With its fields as they are stored, and what its sentence is made of: an id and arguments.
Json event_json(const telemetry::Event& event) {
  const telemetry::EncodedEvent encoded = telemetry::encode(event);
  const std::vector<telemetry::Message> sentence = telemetry::describe(event).sentence;
  Json json{{"step", event.step},
            {"kind", encoded.kind},
            {"seconds", json_number(event.seconds)},
            {"id", telemetry::id_of(sentence.front().words)},
            {"arguments", telemetry::arguments_json(sentence)}};
  const Json detail = parse_json_or_discard(encoded.detail_json);
  if (detail.is_object())
    for (const auto& [name, value] : detail.items())
      if (!json.contains(name))
        json[name] = value;
  return json;
}

/// JSON that another program has stored; as a text if it is none.
Json stored_json(const std::string& text) {
  Json json = parse_json_or_discard(text);
  return json.is_discarded() ? Json(text) : json;
}

} // namespace

Json run_document(const store::RunReader& reader, const store::RunRow& run) {
  Json json{{"run", run.id},    {"uid", run.uid},   {"name", run.name},
            {"note", run.note}, {"tags", run.tags}, {"started", run.started}};
  json["sweep"] = run.sweep ? Json(*run.sweep) : Json(nullptr);
  json["spec"] = stored_json(reader.spec_json(run.id));
  json["start"] = stored_json(reader.start_json(run.id));
  json["environment"] = stored_json(reader.environment_json(run.id));
  json["summary"] = summary_json(run.outcome);
  json["events"] = Json::array();
  for (const auto& event : reader.events(run.id))
    json["events"].push_back(event_json(event));
  json["series"] = reader.series_names(run.id);
  return json;
}

} // namespace batchscope::cli
