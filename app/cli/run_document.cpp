#include "app/cli/run_document.h"

#include "app/cli/describe.h"

namespace batchscope::cli {

namespace {

Json event_json(const store::StoredEvent& event) {
  Json json{{"step", event.step}, {"kind", event.kind}, {"seconds", json_number(event.seconds)}};
  const Json detail = parse_json_or_discard(event.detail_json);
  if (detail.is_object())
    for (const auto& [name, value] : detail.items())
      if (!json.contains(name))
        json[name] = value;
  return json;
}

/// What another program stored need not be JSON; it is then a text.
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
