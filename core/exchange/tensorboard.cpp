#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/export.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

/// `train/loss`, `validation/accuracy`.
std::string tag_of(const std::string& series) {
  constexpr std::string_view validation = "validation_";
  return series.starts_with(validation) ? "validation/" + series.substr(validation.size()) : "train/" + series;
}

/// Of a time such as 2026-01-31T12:00:00Z, fractions of seconds ignored; 0 for another text.
double unix_time(const std::string& utc) {
  std::tm time{};
  return ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &time) ? static_cast<double>(::timegm(&time)) : 0;
}

/// The run's name as that of a folder: other characters than letters, digits and some signs become `_`.
std::string folder_name(const store::RunRow& run) {
  std::string name = "run-" + std::to_string(run.id);
  if (!run.name.empty())
    name += ' ';
  constexpr std::size_t longest = 100;
  for (const char c : run.name.substr(0, longest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::string_view(" ,.+-_=%").find(c) < 8;
    name += plain ? c : '_';
  }
  return name;
}

/// The seconds of the run's steps, for the wall time of each point.
class StepTimes {
public:
  StepTimes(const store::RunReader& reader, const store::RunRow& run, const std::vector<std::string>& names)
      : start_(unix_time(run.started)), last_(run.outcome.seconds) {
    if (std::find(names.begin(), names.end(), "seconds") != names.end())
      points_ = reader.series(run.id, "seconds");
  }
  double start() const { return start_; }
  double at(std::int64_t step) const {
    const auto point = std::lower_bound(points_.begin(), points_.end(), step,
                                        [](const store::Point& p, std::int64_t wanted) { return p.step < wanted; });
    return start_ + (point == points_.end() ? last_ : point->value);
  }

private:
  double start_;
  double last_;
  std::vector<store::Point> points_;
};

class TensorBoardExporter final : public Exporter {
public:
  std::string name() const override { return "tensorboard"; }
  std::string title() const override { return "TensorBoard, a folder of event files"; }
  std::string extension() const override { return {}; }

  void write_folder(const store::RunReader& reader, const std::vector<std::int64_t>& ids,
                    const fs::path& folder) const override {
    for (const std::int64_t id : ids) {
      const store::RunRow run = reader.run(id);
      const fs::path place = folder / folder_name(run);
      fs::create_directory(place);
      reader.at_one_moment([&] { write_run(reader, run, place); });
    }
  }

private:
  static void write_run(const store::RunReader& reader, const store::RunRow& run, const fs::path& folder) {
    const auto names = reader.series_names(run.id);
    const StepTimes times(reader, run, names);
    const fs::path file = folder / fmt::format("events.out.tfevents.{:.0f}.batchscope.{}", times.start(), run.id);
    std::ofstream out(file, std::ios::binary);
    detail::EventWriter writer(out, times.start());
    for (const std::string& name : names) {
      const std::string tag = tag_of(name);
      for (const store::Point& point : reader.series(run.id, name))
        writer.write({.wall_time = times.at(point.step), .step = point.step, .tag = tag, .value = point.value});
    }
    out.close();
    if (!out)
      throw Error(Error::Kind::failed, file.string() + ": cannot be written");
  }
};

} // namespace

std::unique_ptr<Exporter> tensorboard_exporter();
/// One subfolder per run, with all series as scalars.
std::unique_ptr<Exporter> tensorboard_exporter() {
  return std::make_unique<TensorBoardExporter>();
}

} // namespace batchscope::exchange
