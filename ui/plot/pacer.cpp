#include "ui/plot/detail/pacer.h"

#include <QWidget>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

namespace batchscope::ui {

namespace {

constexpr double min_pause = 33;         ///< ms: 30 frames per second are enough
constexpr double pause_to_cost = 12;     ///< a little more than ten: there is some cost around each draw
constexpr std::size_t costs_in_mean = 8; ///< draws
constexpr std::size_t times_kept = 300;

double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

} // namespace

Pacer::Pacer(QWidget& widget, std::function<bool()> draw) : widget_(widget), draw_(std::move(draw)) {
  timer_.setSingleShot(true);
  timer_.setTimerType(Qt::PreciseTimer);
  QObject::connect(&timer_, &QTimer::timeout, &widget_, [this] {
    if (visible())
      now();
  });
}

bool Pacer::visible() const {
  return widget_.isVisible() && !widget_.window()->isMinimized();
}

void Pacer::refresh() {
  wanted_ = true;
  if (timer_.isActive() || !visible())
    return;
  const double since = since_last_.isValid() ? static_cast<double>(since_last_.nsecsElapsed()) * 1e-6 : pause();
  timer_.start(static_cast<int>(std::ceil(std::max(0.0, pause() - since))));
}

void Pacer::soon() {
  wanted_ = true;
  if (visible())
    timer_.start(0);
}

bool Pacer::now() {
  timer_.stop();
  wanted_ = false;
  QElapsedTimer clock;
  clock.start();
  const double before = processor_ms();
  if (!draw_())
    return false;
  costs_.push_back(processor_ms() - before);
  times_.push_back(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
  if (costs_.size() > costs_in_mean)
    costs_.pop_front();
  if (times_.size() > times_kept)
    times_.pop_front();
  since_last_.start();
  return true;
}

double Pacer::pause() const {
  if (costs_.empty())
    return min_pause;
  const double mean = std::accumulate(costs_.begin(), costs_.end(), 0.0) / static_cast<double>(costs_.size());
  return std::max(min_pause, pause_to_cost * mean);
}

} // namespace batchscope::ui
