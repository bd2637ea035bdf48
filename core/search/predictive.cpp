// A memory model and a trial to verify it: see core/predict/memory_model.h. The model comes from a dry run, or from two
// small probes.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/predict/memory_model.h"
#include "core/search/strategy.h"

namespace batchscope::search {

namespace {

constexpr std::int64_t first_batch = 8; // kernels behave alike from here on
constexpr double first_slack = 0.001;   // initial allowance for the model's error, as a fraction of the memory
/// Fraction of the memory of a size by which a model of traces may fall short before it is given up.
constexpr double most_misleading = 0.05;
constexpr int most_mispredictions = 2; ///< of such a model
/// Memory that the first large size leaves free, whatever the margin: it shows how right the model is.
constexpr double min_margin = 0.1;
/// Fraction of the memory by which that size, predicted from small ones, stays below the margin.
constexpr double short_of_margin = 0.02;
constexpr int most_single_steps = 2; ///< in a row, to the next size
/// Fraction of the memory that the next size needs, at least, beyond a prediction that was not quite right.
constexpr double beyond = 0.0005;

class Predictive final : public Finder {
public:
  explicit Predictive(const FinderOptions& options) : options_(options), model_(options.memory), dry_(model_) {}

  std::string name() const override { return "predictive"; }
  std::optional<std::int64_t> largest() const override { return fits_ > 0 ? std::optional(fits_) : std::nullopt; }
  bool largest_is_exact() const override { return fits_ > 0 && settled(); }

  std::optional<std::uint64_t> predict(std::int64_t batch) const override {
    if (!model_)
      return line() ? std::optional(line()->at(batch)) : std::nullopt;
    const auto bytes = static_cast<std::int64_t>(model_->peak(batch).bytes) + correction_;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
  }

  std::optional<Proposal> propose() override {
    if (over_ || settled())
      return std::nullopt;
    const std::int64_t batch = climbing(*next_batch());
    return Proposal{batch, true, predict(batch)};
  }

  void tell(const Probe& probe) override {
    if (probe.outcome == Outcome::error) {
      over_ = true;
      return;
    }
    if (probe.outcome == Outcome::out_of_memory) {
      fails_ = std::min(fails_, probe.batch);
      mispredictions_ += model_ || line() ? 1 : 0;
      if (options_.budget_bytes)
        give_up_misleading(probe.batch, *options_.budget_bytes);
      return;
    }
    climbed_ = probe.batch == fits_ + 1 ? climbed_ + 1 : 0;
    fits_ = std::max(fits_, probe.batch);
    if (probe.peak_bytes)
      peaks_[probe.batch] = *probe.peak_bytes;
    if (model_ && probe.peak_bytes) {
      last_error_ = error_at(probe.batch, *probe.peak_bytes);
      if (dry_)
        correction_ = static_cast<std::int64_t>(*probe.peak_bytes - model_->peak(probe.batch).bytes);
    }
    if (probe.trace == nullptr || traces_rejected_) {
      if (probe.peak_bytes)
        give_up_misleading(probe.batch, *probe.peak_bytes);
      return;
    }
    traces_[probe.batch] = probe.trace;
    if (traces_.size() >= 2 && !(dry_ && last_error_ <= model_->tolerance()))
      use_traces();
  }

private:
  double error_at(std::int64_t batch, std::uint64_t peak_bytes) const {
    return std::abs(static_cast<double>(*predict(batch)) / static_cast<double>(peak_bytes) - 1);
  }

  void use_traces() {
    auto model =
        std::make_shared<const predict::MemoryModel>(*std::next(traces_.rbegin())->second, *traces_.rbegin()->second);
    if (model_ && !dry_ && !model->usable())
      return;
    model_ = std::move(model);
    dry_ = false;
    correction_ = 0;
  }

  /// Two small steps of examples whose sizes vary say little of a large one, which takes at least `bytes`. A model that
  /// is that wrong, or has let two sizes fail, is given up: from then on the peaks are a line.
  void give_up_misleading(std::int64_t batch, std::uint64_t bytes) {
    if (!model_ || dry_)
      return;
    const bool short_of = static_cast<double>(*predict(batch)) < (1 - most_misleading) * static_cast<double>(bytes);
    if (mispredictions_ < most_mispredictions && !short_of)
      return;
    model_.reset();
    traces_.clear();
    traces_rejected_ = true;
  }

  /// Peaks as a line of the batch. Of trials without traces (a process for each size, measured from outside).
  struct Line {
    std::int64_t batch;
    double peak;  ///< at `batch`, bytes
    double slope; ///< bytes of an example, above 0

    std::uint64_t at(std::int64_t size) const {
      return static_cast<std::uint64_t>(std::max(peak + slope * static_cast<double>(size - batch), 0.0));
    }
    /// Largest size in [lowest, highest] within so many bytes; lowest - 1 if there is none.
    std::int64_t within(double bytes, std::int64_t lowest, std::int64_t highest) const {
      const double size = static_cast<double>(batch) + std::floor((bytes - peak) / slope);
      return static_cast<std::int64_t>(
          std::clamp(size, static_cast<double>(lowest - 1), static_cast<double>(std::max(highest, lowest - 1))));
    }
  };

  /// Through the largest size that fitted and the largest of at most half of it, or else the smallest; nothing if their
  /// peaks do not grow. Between sizes that are near each other the scatter of measurements may exceed the growth.
  std::optional<Line> line() const {
    if (!traces_.empty() || peaks_.size() < 2)
      return std::nullopt;
    const auto [above, peak_above] = *peaks_.rbegin();
    const auto after_half = peaks_.upper_bound(above / 2);
    const auto [below, peak_below] = after_half == peaks_.begin() ? *after_half : *std::prev(after_half);
    const double growth = static_cast<double>(peak_above) - static_cast<double>(peak_below);
    if (growth <= 0)
      return std::nullopt;
    return Line{above, static_cast<double>(peak_above), growth / static_cast<double>(above - below)};
  }

  std::int64_t largest_within(double bytes, std::int64_t lowest, std::int64_t highest) const {
    if (!model_)
      return line()->within(bytes, lowest, highest);
    const double room = bytes - static_cast<double>(correction_);
    return model_->largest_within(static_cast<std::uint64_t>(std::max(room, 0.0)), lowest, highest);
  }

  /// No more trials: no larger size is allowed, or it did not fit, or a trusted model predicts that.
  bool settled() const { return fits_ == options_.max_batch || fits_ + 1 == fails_ || !next_batch(); }

  std::int64_t highest() const { return std::min(options_.max_batch, fails_ - 1); }

  std::optional<std::int64_t> next_batch() const {
    if (fits_ == 0)
      return first();
    if (!options_.budget_bytes)
      return without_memory();
    if (traces_.empty())
      return line() ? by_line() : without_memory();
    if (!model_)
      return second();
    if (!model_->model().usable())
      return without_memory();
    if (fails_ != unknown)
      return below_failure();
    const std::int64_t goal = largest_within(static_cast<double>(*options_.budget_bytes), fits_ + 1, highest());
    if (goal > 2 * fits_ && !dry_)
      return with_margin();
    if (goal > fits_)
      return approached(goal);
    // The model predicts that the next size does not fit; it is trusted if it was right about this one.
    if (last_error_ > model_->tolerance())
      return beyond_prediction();
    return is_doubtful(fits_ + 1) ? std::optional(fits_ + 1) : std::nullopt;
  }

  /// A model that is wrong by little may name the next size again and again: then in larger and larger steps.
  std::int64_t climbing(std::int64_t next) const {
    if (next != fits_ + 1 || climbed_ < most_single_steps)
      return next;
    return std::clamp(fits_ + (std::int64_t{1} << std::min(climbed_, 30)), next, highest());
  }

  /// About the safe size: it is run before larger ones, and shows how right the model of small ones is.
  std::int64_t with_margin() const {
    return std::max(largest_within(room_with_margin(short_of_margin), fits_ + 1, highest()), fits_ + 1);
  }

  /// Bytes that the first large size may take; `less`: a fraction of the memory.
  double room_with_margin(double less) const {
    const double free = std::max(options_.margin, min_margin) + less;
    return static_cast<double>(*options_.budget_bytes) * std::max(1 - free, 0.0);
  }

  std::int64_t approached(std::int64_t goal) const {
    if (options_.slack <= 0)
      return goal;
    const double room = static_cast<double>(*options_.budget_bytes) * (1 - options_.slack);
    const std::int64_t certain = largest_within(room, fits_ + 1, goal);
    return certain > fits_ ? certain : goal - (goal - fits_) / 2;
  }

  /// Whether the model, which is right, predicts so little too much that the size may fit after all.
  bool is_doubtful(std::int64_t batch) const {
    return options_.doubt > 0 &&
           static_cast<double>(*predict(batch)) <= (1 + options_.doubt) * static_cast<double>(*options_.budget_bytes);
  }

  /// Next size if the model predicts too much. The size that fits shows by how much at least, and the next size needs
  /// twice that, so steps grow until a size fails.
  std::int64_t beyond_prediction() const {
    const auto budget = static_cast<double>(*options_.budget_bytes);
    const double shown = std::max(static_cast<double>(*predict(fits_)) - budget, beyond / 2 * budget);
    return std::clamp(largest_within(budget + 2 * shown, fits_ + 1, highest()), fits_ + 1, highest());
  }

  /// Tries the size that the line predicts, but none far beyond those that were run. Once the line predicts that
  /// nothing more fits, takes larger and larger steps until a size fails.
  std::int64_t by_line() const {
    constexpr std::int64_t farthest = 16;
    if (fails_ != unknown)
      return below_failure();
    const std::int64_t limit = std::min(farthest * fits_, highest());
    const std::int64_t goal = largest_within(static_cast<double>(*options_.budget_bytes), fits_ + 1, limit);
    const auto above_budget = std::count_if(peaks_.begin(), peaks_.end(),
                                            [&](const auto& peak) { return peak.second > *options_.budget_bytes; });
    const std::int64_t beyond = std::max(fits_ / 128, std::int64_t{1}) << std::min<std::int64_t>(above_budget, 30);
    return goal > fits_ ? goal : std::min(fits_ + beyond, highest());
  }

  /// A size failed, so the device refuses earlier than the model predicts (its sizes are wrong, or memory is
  /// fragmented). Aims below the model's prediction for the failed size, lower after every further failure; if that is
  /// not above the largest size that fits, bisects. The search goes on until the two meet.
  std::int64_t below_failure() const {
    if (!model_)
      return between_by_line();
    const double room = static_cast<double>(std::min(*options_.budget_bytes, *predict(fails_)));
    const double slack = first_slack * std::pow(4, std::max(mispredictions_ - 1, 0)) * room;
    const std::int64_t goal = largest_within(room - slack, fits_ + 1, highest());
    return goal > fits_ ? goal : fits_ + (fails_ - fits_) / 2;
  }

  /// A line is only as good as the measurements from outside: after it was wrong it is followed once more, where it
  /// names a size that is not next to the failed one; then the search bisects.
  std::int64_t between_by_line() const {
    const std::int64_t goal = largest_within(static_cast<double>(*options_.budget_bytes), fits_ + 1, highest());
    const bool followed = mispredictions_ <= 1 && goal > fits_ && goal + 1 < fails_;
    return followed ? goal : fits_ + (fails_ - fits_) / 2;
  }

  std::int64_t first() const {
    if (fails_ != unknown)
      return fails_ / 2;
    if (model_ && options_.budget_bytes && !options_.start)
      return std::max<std::int64_t>(largest_within(room_with_margin(0), 1, options_.max_batch), 1);
    return std::min(options_.start.value_or(first_batch), options_.max_batch);
  }

  /// Twice the first size, or what one trace allows: everything that is not in use between steps is assumed to grow
  /// with the batch, which errs on the small side.
  std::int64_t second() const {
    const telemetry::Trace& trace = *traces_.begin()->second;
    const double growing = static_cast<double>(trace.peak_bytes - trace.start_bytes);
    const double room = static_cast<double>(*options_.budget_bytes - trace.start_bytes);
    const auto guess = static_cast<std::int64_t>(room / growing * static_cast<double>(trace.batch));
    return std::min(std::clamp(guess, fits_ + 1, std::max(2 * trace.batch, fits_ + 1)), highest());
  }

  /// If no bytes are known or the model is not usable: doubles until the first failure, then bisects.
  std::int64_t without_memory() const {
    return fails_ == unknown ? std::min(2 * fits_, options_.max_batch) : fits_ + (fails_ - fits_) / 2;
  }

  static constexpr std::int64_t unknown = INT64_MAX;

  FinderOptions options_;
  std::int64_t fits_ = 0;        ///< largest that fitted
  std::int64_t fails_ = unknown; ///< smallest that did not
  int climbed_ = 0;              ///< sizes in a row that fitted and were the next one
  int mispredictions_ = 0;       ///< sizes that failed although the model predicted a fit
  bool over_ = false;
  double last_error_ = 1;
  std::map<std::int64_t, std::uint64_t> peaks_; ///< of the sizes that fitted
  std::map<std::int64_t, std::shared_ptr<const telemetry::Trace>> traces_;
  std::shared_ptr<const predict::PeakPredictor> model_;
  bool traces_rejected_ = false; ///< by traces, which are no longer used
  bool dry_;                     ///< model_ is from a dry run
  std::int64_t correction_ = 0;  ///< bytes by which a size needed more than model_ says
};

} // namespace

extern const Strategy predictive_strategy;
const Strategy predictive_strategy{
    .name = "predictive",
    .help = "predict the largest size from a dry run, then verify it: about 2 trials, seldom an error",
    .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> {
      return std::make_unique<Predictive>(options);
    }};

} // namespace batchscope::search
