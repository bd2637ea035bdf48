// The classic strategies, which know of a size only whether it fits.
#include <algorithm>
#include <cmath>

#include "core/search/strategy.h"

namespace batchscope::search {

namespace {

/// Common base of the classic strategies: the sizes known to fit and not to fit, and the order of the calls.
class ClassicFinder : public Finder {
public:
  ClassicFinder(const char* name, const FinderOptions& options, std::int64_t default_start)
      : name_(name), max_batch_(options.max_batch),
        next_(std::min(options.start.value_or(default_start), options.max_batch)) {}

  std::string name() const override { return name_; }
  std::optional<Proposal> propose() override {
    if (!next_)
      return std::nullopt;
    return Proposal{.batch = *next_, .trace = false, .predicted_bytes = {}};
  }
  std::optional<std::int64_t> largest() const override { return fits_; }
  bool largest_is_exact() const override { return fits_ && (*fits_ == max_batch_ || refused_ == *fits_ + 1); }

  void tell(const Probe& probe) override {
    next_.reset();
    if (probe.outcome == Outcome::error)
      return;
    if (probe.outcome == Outcome::fits)
      fits_ = std::max(fits_.value_or(0), probe.batch);
    else
      refused_ = std::min(refused_.value_or(probe.batch), probe.batch);
    const std::int64_t size = following(probe.batch, probe.outcome == Outcome::fits);
    if (size >= 1)
      next_ = size;
  }

protected:
  /// The size to run after this one; 0 ends the search.
  virtual std::int64_t following(std::int64_t batch, bool fitted) = 0;

  /// Twice the size, at most max_batch; 0 if that is known not to fit or is no larger.
  std::int64_t doubled(std::int64_t batch) const {
    const std::int64_t size = batch > max_batch_ / 2 ? max_batch_ : batch * 2;
    return size > batch && !known_too_large(size) ? size : 0;
  }
  bool known_too_large(std::int64_t batch) const { return refused_ && batch >= *refused_; }
  const std::optional<std::int64_t>& fits() const { return fits_; }
  const std::optional<std::int64_t>& refused() const { return refused_; }
  std::int64_t max_batch() const { return max_batch_; }

private:
  const char* name_;
  std::int64_t max_batch_;
  std::optional<std::int64_t> next_;
  std::optional<std::int64_t> fits_;    ///< largest that fitted
  std::optional<std::int64_t> refused_; ///< smallest that did not
};

/// `halving` and `shrink`: only downwards.
class Shrinking : public ClassicFinder {
public:
  Shrinking(const char* name, const FinderOptions& options, double factor)
      : ClassicFinder(name, options, 128), factor_(factor) {}

protected:
  std::int64_t following(std::int64_t batch, bool fitted) override {
    if (fitted || batch == 1)
      return 0;
    // A factor below a half must not skip 1: nothing fits only if 1 did not fit.
    const double size = std::floor(static_cast<double>(batch) * factor_);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(size), 1, batch - 1);
  }

private:
  double factor_;
};

class Power : public ClassicFinder {
public:
  explicit Power(const FinderOptions& options) : ClassicFinder("power", options, 2) {}

protected:
  std::int64_t following(std::int64_t batch, bool fitted) override {
    if (fitted)
      return doubled(batch);
    return fits() ? 0 : batch / 2;
  }
};

class Doubling : public ClassicFinder {
public:
  explicit Doubling(const FinderOptions& options) : ClassicFinder("doubling", options, 8) {}

protected:
  std::int64_t following(std::int64_t batch, bool fitted) override {
    if (tried_half_more_)
      return 0;
    if (!fitted && !fits())
      return batch / 2;
    if (const std::int64_t size = fitted ? doubled(batch) : 0)
      return size;
    tried_half_more_ = true;
    const std::int64_t size = *fits() + *fits() / 2;
    return size > *fits() && size <= max_batch() && !known_too_large(size) ? size : 0;
  }

private:
  bool tried_half_more_ = false;
};

class Binary : public ClassicFinder {
public:
  explicit Binary(const FinderOptions& options) : ClassicFinder("binary", options, 2) {}

protected:
  std::int64_t following(std::int64_t batch, bool fitted) override {
    if (!fits())
      return batch / 2;
    if (!refused())
      return fitted ? doubled(batch) : 0;
    const std::int64_t gap = *refused() - *fits();
    return gap > 1 ? *fits() + gap / 2 : 0;
  }
};

} // namespace

extern const Strategy halving_strategy;
const Strategy halving_strategy{.name = "halving",
                                .help = "halve from 128 until a size fits: few trials, not exact",
                                .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> {
                                  return std::make_unique<Shrinking>("halving", options, 0.5);
                                }};

extern const Strategy shrink_strategy;
const Strategy shrink_strategy{.name = "shrink",
                               .help = "multiply 128 by the factor until a size fits: few trials, not exact",
                               .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> {
                                 return std::make_unique<Shrinking>("shrink", options, options.factor);
                               },
                               .uses_factor = true};

extern const Strategy doubling_strategy;
const Strategy doubling_strategy{.name = "doubling",
                                 .help = "double until out of memory, then try 1.5 times the last size that fits",
                                 .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> {
                                   return std::make_unique<Doubling>(options);
                                 }};

extern const Strategy power_strategy;
const Strategy power_strategy{
    .name = "power",
    .help = "double until out of memory, keep the last size that fits",
    .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> { return std::make_unique<Power>(options); }};

extern const Strategy binary_strategy;
const Strategy binary_strategy{
    .name = "binary",
    .help = "double until out of memory, then bisect: exact, several errors",
    .make = [](const FinderOptions& options) -> std::unique_ptr<Finder> { return std::make_unique<Binary>(options); }};

} // namespace batchscope::search
