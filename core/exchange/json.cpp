#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include "core/base/json.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/telemetry/event_codec.h"
#include "core/telemetry/outcome_fields.h"
#include "core/telemetry/record.h"

namespace batchscope::exchange::detail {

namespace {

// Embeds stored JSON; any other text stays a string.
Json embedded(const std::string& text) {
  Json value = parse_json_or_discard(text);
  return value.is_discarded() ? Json(text) : value;
}

void append_value(std::string& text, double value) {
  const bool finite = std::isfinite(value);
  text += finite ? "" : "\"";
  append_number(text, value);
  text += finite ? "" : "\"";
}

/// Writes piece by piece: as one JSON value, the series of a long run would take many times their size in memory.
class JsonExporter final : public Exporter {
public:
  std::string name() const override { return "json"; }
  std::string title() const override { return "JSON, everything"; }
  std::string extension() const override { return "json"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    out << "{\"format\": \"batchscope-runs\", \"version\": 1,\n\"sweeps\": [";
    const char* separator = "\n";
    for (const std::int64_t sweep : sweeps(reader, ids)) {
      out << separator << json_text({{"id", sweep}, {"spec", embedded(reader.sweep_json(sweep))}});
      separator = ",\n";
    }
    out << "],\n\"runs\": [";
    separator = "\n";
    for (const std::int64_t id : ids) {
      out << separator;
      reader.at_one_moment([&] { write_run(reader, id, out); });
      separator = ",\n";
    }
    out << "]}\n";
  }

private:
  static std::set<std::int64_t> sweeps(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
    std::set<std::int64_t> sweeps;
    for (const std::int64_t id : ids)
      if (const auto sweep = reader.run(id).sweep)
        sweeps.insert(*sweep);
    return sweeps;
  }

  static void write_run(const store::RunReader& reader, std::int64_t id, std::ostream& out) {
    const store::RunRow run = reader.run(id);
    out << "{\"run\": " << run.id << ",\n\"uid\": " << json_text(run.uid) << ",\n\"name\": " << json_text(run.name)
        << ",\n\"note\": " << json_text(run.note) << ",\n\"tags\": " << json_text(Json(run.tags))
        << ",\n\"started\": " << json_text(run.started) << ",\n\"workers\": " << run.workers
        << ",\n\"sweep\": " << json_text(run.sweep ? Json(*run.sweep) : Json(nullptr))
        << ",\n\"spec\": " << json_text(embedded(reader.spec_json(id)))
        << ",\n\"start\": " << json_text(embedded(reader.start_json(id)))
        << ",\n\"environment\": " << json_text(embedded(reader.environment_json(id)))
        << ",\n\"summary\": " << json_text(telemetry::to_json(run.outcome)) << ",\n\"events\": [";
    const char* separator = "\n";
    for (const telemetry::Event& event : reader.events(id)) {
      const telemetry::EncodedEvent encoded = telemetry::encode(event);
      out << separator
          << json_text({{"step", event.step},
                        {"seconds", json_number(event.seconds)},
                        {"kind", encoded.kind},
                        {"detail", embedded(encoded.detail_json)}});
      separator = ",\n";
    }
    out << "],\n\"series\": {";
    separator = "\n";
    for (const std::string& name : reader.series_names(id)) {
      const std::vector<store::Point> points = reader.series(id, name);
      const bool nan_is_unknown = telemetry::nan_is_unknown(name);
      if (nan_is_unknown && std::ranges::all_of(points, [](const auto& point) { return std::isnan(point.value); }))
        continue; // no value is known
      out << separator << json_text(name) << ": ";
      write_points(points, nan_is_unknown, out);
      separator = ",\n";
    }
    out << "}}";
  }

  /// A value that is not known is null, as a point that is left out would not be restored.
  static void write_points(const std::vector<store::Point>& points, bool nan_is_unknown, std::ostream& out) {
    std::string text;
    const char* separator = "[";
    for (const store::Point& point : points) {
      text.assign(separator) += '[' + std::to_string(point.step) + ", ";
      if (nan_is_unknown && std::isnan(point.value))
        text += "null";
      else
        append_value(text, point.value);
      text += ']';
      out << text;
      separator = ", ";
    }
    out << (points.empty() ? "[]" : "]");
  }
};

} // namespace

} // namespace batchscope::exchange::detail

namespace batchscope::exchange {

std::unique_ptr<Exporter> json_exporter();
/// Everything that is stored of the runs, enough to restore them.
std::unique_ptr<Exporter> json_exporter() {
  return std::make_unique<detail::JsonExporter>();
}

} // namespace batchscope::exchange
