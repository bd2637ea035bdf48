#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/utc.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/store/step_times.h"
#include "core/telemetry/record.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

/// `train/loss`, `validation/accuracy`.
std::string tag_of(const std::string& series) {
  constexpr std::string_view validation = "validation_";
  return series.starts_with(validation) ? "validation/" + series.substr(validation.size()) : "train/" + series;
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
    store::StepTimes times(reader, run);
    const double start = unix_seconds(run.started);
    const fs::path file = folder / fmt::format("events.out.tfevents.{:.0f}.batchscope.{}", start, run.id);
    std::ofstream out(file, std::ios::binary);
    detail::EventWriter writer(out, start);
    for (const std::string& name : reader.series_names(run.id)) {
      const std::string tag = tag_of(name);
      const bool nan_is_unknown = telemetry::nan_is_unknown(name);
      for (const store::Point& point : reader.series(run.id, name))
        if (!nan_is_unknown || !std::isnan(point.value))
          writer.write(
              {.wall_time = start + times.at(point.step), .step = point.step, .tag = tag, .value = point.value});
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
