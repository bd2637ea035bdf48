#include <ostream>
#include <set>

#include "core/base/json.h"
#include "core/store/detail/exporters.h"

namespace batchscope::store::detail {

namespace {

// Text from elsewhere may not be valid UTF-8; invalid bytes become U+FFFD instead of an error.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Embeds stored JSON; any other text stays a string.
Json embedded(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

template <typename T> Json optional_number(const std::optional<T>& value) {
  if (!value)
    return nullptr;
  if constexpr (std::is_same_v<T, double>)
    return json_number(*value);
  else
    return *value;
}

Json summary(const RunOutcome& outcome) {
  return {{"status", outcome.status},
          {"reason", outcome.reason},
          {"batch", optional_number(outcome.batch)},
          {"steps", outcome.steps},
          {"examples_seen", outcome.examples_seen},
          {"epoch", json_number(outcome.epoch)},
          {"train_coverage", json_number(outcome.train_coverage)},
          {"oom_events", outcome.oom_events},
          {"loss", optional_number(outcome.loss)},
          {"validation_loss", optional_number(outcome.validation_loss)},
          {"validation_accuracy", optional_number(outcome.validation_accuracy)},
          {"peak_bytes", outcome.peak_bytes},
          {"seconds", json_number(outcome.seconds)},
          {"examples_per_second", json_number(outcome.examples_per_second)}};
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

  void write(const RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    out << "{\"format\": \"batchscope-runs\", \"version\": 1,\n\"sweeps\": [";
    const char* separator = "\n";
    for (const std::int64_t sweep : sweeps(reader, ids)) {
      out << separator << dump({{"id", sweep}, {"spec", embedded(reader.sweep_json(sweep))}});
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
  static std::set<std::int64_t> sweeps(const RunReader& reader, const std::vector<std::int64_t>& ids) {
    std::set<std::int64_t> sweeps;
    for (const std::int64_t id : ids)
      if (const auto sweep = reader.run(id).sweep)
        sweeps.insert(*sweep);
    return sweeps;
  }

  static void write_run(const RunReader& reader, std::int64_t id, std::ostream& out) {
    const RunRow run = reader.run(id);
    out << "{\"run\": " << run.id << ",\n\"uid\": " << dump(run.uid) << ",\n\"name\": " << dump(run.name)
        << ",\n\"note\": " << dump(run.note) << ",\n\"started\": " << dump(run.started)
        << ",\n\"sweep\": " << dump(optional_number(run.sweep))
        << ",\n\"spec\": " << dump(embedded(reader.spec_json(id)))
        << ",\n\"start\": " << dump(embedded(reader.start_json(id))) << ",\n\"summary\": " << dump(summary(run.outcome))
        << ",\n\"events\": [";
    const char* separator = "\n";
    for (const StoredEvent& event : reader.events(id)) {
      out << separator
          << dump({{"step", event.step},
                   {"seconds", json_number(event.seconds)},
                   {"kind", event.kind},
                   {"detail", embedded(event.detail_json)}});
      separator = ",\n";
    }
    out << "],\n\"series\": {";
    separator = "\n";
    for (const std::string& name : reader.series_names(id)) {
      out << separator << dump(name) << ": ";
      write_points(reader.series(id, name), out);
      separator = ",\n";
    }
    out << "}}";
  }

  static void write_points(const std::vector<Point>& points, std::ostream& out) {
    std::string text;
    const char* separator = "[";
    for (const Point& point : points) {
      text.assign(separator) += '[' + std::to_string(point.step) + ", ";
      append_value(text, point.value);
      text += ']';
      out << text;
      separator = ", ";
    }
    out << (points.empty() ? "[]" : "]");
  }
};

} // namespace

std::unique_ptr<Exporter> json_exporter() {
  return std::make_unique<JsonExporter>();
}

} // namespace batchscope::store::detail
