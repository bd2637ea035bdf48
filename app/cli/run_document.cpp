#include "app/cli/run_document.h"

#include "app/cli/describe.h"

namespace batchscope::cli {

namespace {

Json event_json(const store::StoredEvent& event) {
  Json json{{"step", event.step}, {"kind", event.kind}, {"seconds", json_number(event.seconds)}};
  const Json detail = Json::parse(event.detail_json, nullptr, false);
  if (detail.is_object())
    for (const auto& [name, value] : detail.items())
      if (!json.contains(name))
        json[name] = value;
  return json;
}

} // namespace

Json run_document(const store::RunReader& reader, const store::RunRow& run) {
  Json json{{"run", run.id}, {"uid", run.uid}, {"name", run.name}, {"note", run.note}, {"started", run.started}};
  json["sweep"] = run.sweep ? Json(*run.sweep) : Json(nullptr);
  json["spec"] = Json::parse(reader.spec_json(run.id), nullptr, false);
  json["start"] = Json::parse(reader.start_json(run.id), nullptr, false);
  json["summary"] = summary_json(run.outcome);
  json["events"] = Json::array();
  for (const auto& event : reader.events(run.id))
    json["events"].push_back(event_json(event));
  json["series"] = reader.series_names(run.id);
  return json;
}

} // namespace batchscope::cli
