#include "core/estimate/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "core/run/model_spec.h"

namespace batchscope::estimate {

namespace {

/// Runs the model with one size changed.
class Trial {
public:
  Trial(const run::RunSpec& spec, DryRuns& dry_runs, std::int64_t batch, data::DataPool& pool)
      : spec_(spec), dry_runs_(dry_runs), batch_(batch) {
    const data::DataSplit data = pool.open(spec.data, run::data_options(spec));
    shape_ = data::longest_shape(*data.train);
    examples_ = std::max(data.train->size(), batch);
  }

  /// In use at the peak of a step, which is quick to compute; infinite if there is no such model.
  double peak(const std::string& size, std::int64_t value) const {
    const auto dry_run = changed(size, value);
    return dry_run ? static_cast<double>(dry_run->trace(batch_).peak_bytes) : std::numeric_limits<double>::infinity();
  }
  double room() const { return static_cast<double>(dry_runs_.target().usable_bytes()); }
  /// By what the target's allocator reserves.
  bool fits_reserved(const std::string& size, std::int64_t value) const {
    const auto dry_run = changed(size, value);
    return dry_run && dry_run->fits(batch_, dry_runs_.target().usable_bytes());
  }

private:
  std::unique_ptr<run::DryRun> changed(const std::string& size, std::int64_t value) const {
    run::RunSpec spec = spec_;
    spec.model = run::with_size(spec_.model, size, value);
    data::ExampleShape shape = shape_;
    try {
      const run::ModelSpec model = run::parse_model(spec.model);
      if (shape.input == data::ExampleShape::Input::tokens)
        shape.dimensions.front() = model.context();
    } catch (const Error&) {
      return nullptr;
    }
    return dry_runs_.make(spec, shape, examples_);
  }

  run::RunSpec spec_;
  DryRuns& dry_runs_;
  std::int64_t batch_;
  data::ExampleShape shape_;
  std::int64_t examples_ = 0;
};

/// Values that lie this far apart are models: a width is divided among the heads, of which rotary positions take pairs.
std::int64_t step_of(const run::ModelSpec& model, const std::string& size) {
  return size == "width" && model.sizes.count("heads") > 0 ? 2 * model.size("heads") : 1;
}

struct Point {
  std::int64_t value = 0;
  double bytes = 0;
};

/// Where the memory, taken as a power of the size, fills the room.
double filling(const Point& a, const Point& b, double room) {
  const auto x = static_cast<double>(a.value), y = static_cast<double>(b.value);
  const double power = std::clamp(std::log(b.bytes / a.bytes) / std::log(y / x), 0.1, 4.0); // typically 1 to 2
  return x * std::pow(room / a.bytes, 1 / power);
}

/// `now` fits.
std::int64_t largest_that_fits(const Trial& trial, const std::string& size, std::int64_t now, std::int64_t bound,
                               std::int64_t step) {
  Point first{now, trial.peak(size, now)}, last = first;
  const auto value_of = [&](std::int64_t steps) { return now + steps * step; };
  std::int64_t good = 0, bad = (bound - now) / step + 1;
  for (int i = 0; bad - good > 1; ++i) {
    std::int64_t next = i == 0 ? std::max<std::int64_t>(now / step, 1) : good + (bad - good) / 2;
    if (last.value != first.value && i % 3 != 0) {
      const double guess = (filling(first, last, trial.room()) - static_cast<double>(now)) / static_cast<double>(step);
      // In turn below and above the guess, so that both ends come near.
      next = static_cast<std::int64_t>(std::clamp(guess, -1.0, static_cast<double>(bad))) + (i % 3 == 1 ? 0 : 1);
    }
    next = std::clamp(next, good + 1, bad - 1);
    const Point point{value_of(next), trial.peak(size, value_of(next))};
    (point.bytes <= trial.room() ? good : bad) = next;
    if (!std::isfinite(point.bytes))
      continue;
    if (last.value != first.value && std::abs(first.bytes - trial.room()) > std::abs(last.bytes - trial.room()))
      first = last;
    last = point;
  }
  // The allocator loses a few per cent.
  for (std::int64_t less = std::max<std::int64_t>(good / 64, 1); good > 0 && !trial.fits_reserved(size, value_of(good));
       less *= 2)
    good = std::max<std::int64_t>(good - less, 0);
  return value_of(good);
}

} // namespace

std::vector<Growth> room_to_grow(const run::RunSpec& spec, DryRuns& dry_runs, std::int64_t batch,
                                 data::DataPool& pool) {
  const run::ModelSpec model = run::parse_model(spec.model);
  const Trial trial(spec, dry_runs, batch, pool);
  std::vector<Growth> all;
  for (const run::ModelKind::Size& size : run::kind_of(model).sizes) {
    if (!size.grows)
      continue;
    const std::int64_t now = model.size(size.name);
    if (!trial.fits_reserved(size.name, now))
      return {};
    all.push_back({size.name, now, largest_that_fits(trial, size.name, now, size.highest, step_of(model, size.name))});
  }
  return all;
}

} // namespace batchscope::estimate
