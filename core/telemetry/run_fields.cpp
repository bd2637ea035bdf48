#include "core/telemetry/detail/run_fields.h"

namespace batchscope::telemetry {

void note_fields(Reading& io, Resumed& event) {
  const auto notes = io.detail().find("notes");
  if (notes == io.detail().end() || !notes->is_array())
    return;
  io.derived("notes", [] {});
  for (const Json& each : *notes) {
    Json wrapped{{"note", each}};
    Reading reading(wrapped);
    Reason& note = event.notes.emplace_back();
    reading.reason("note", note);
  }
}

void note_fields(Writing& io, const Resumed& event) {
  if (event.notes.empty())
    return;
  Json& notes = io.out()["notes"] = Json::array();
  for (const Reason& note : event.notes) {
    Writing writing;
    writing.reason("text", note);
    Json& json = writing.out();
    Json object{{"code", note.code}, {"text", json.value("text", std::string())}};
    if (json.contains("text_args"))
      object["args"] = json["text_args"];
    notes.push_back(std::move(object));
  }
}

} // namespace batchscope::telemetry
