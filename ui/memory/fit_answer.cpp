#include "ui/memory/fit_answer.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

#include "core/search/finder.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

QString text(const char* source) {
  return QCoreApplication::translate("FitAnswer", source);
}

QString count_text(std::optional<std::int64_t> size) {
  return size.value_or(0) > 0 ? format_count(*size) : text("none");
}

QString at_batch(double bytes, std::int64_t batch, bool by_formula) {
  return (by_formula ? text("%1 at batch size %2, by formula") : text("%1 at batch size %2"))
      .arg(format_bytes(bytes), format_count(batch));
}

QList<FitAnswer::Saving> savings_of(const std::vector<estimate::Saving>& savings, std::int64_t batch) {
  QList<FitAnswer::Saving> all;
  for (const estimate::Saving& saving : savings)
    all.append({QString::fromStdString(saving.title), count_text(saving.max_batch),
                at_batch(saving.total_bytes, batch, saving.by_formula)});
  return all;
}

/// Those of a formula come with all of a kind.
predict::PeakCurve::Point peak_of(const estimate::Estimate& estimate, std::int64_t batch) {
  predict::PeakCurve::Point peak;
  peak.batch = batch;
  const auto set = [&](telemetry::Use use, double bytes) {
    constexpr double most = 1e18; // what can be drawn
    const auto whole = static_cast<std::uint64_t>(std::llround(std::min(bytes, most)));
    peak.by[static_cast<std::size_t>(use)] = whole;
    peak.bytes += whole;
  };
  set(telemetry::Use::parameters, estimate.parameters);
  set(telemetry::Use::gradients, estimate.gradients);
  set(telemetry::Use::optimizer, estimate.optimizer);
  set(telemetry::Use::activations, estimate.activations);
  return peak;
}

} // namespace

FitAnswer answer_of(const estimate::CardFit& fit, const std::vector<estimate::Saving>& savings) {
  FitAnswer answer;
  answer.batch = fit.batch;
  answer.peak = fit.prediction.at(fit.batch);
  answer.largest = fit.prediction.largest;
  answer.safe = fit.prediction.safe;
  if (fit.steps)
    answer.reserved_bytes = fit.steps->reserved_bytes;
  answer.method = fit.not_on_card.empty()
                      ? text("Steps of the trainer on a pretended GPU, kernels not run.")
                      : text("Computed for the CPU instead: %1.").arg(QString::fromStdString(fit.not_on_card));
  answer.savings = savings_of(savings, fit.batch);
  return answer;
}

FitAnswer answer_of(const estimate::Transformer& model, const estimate::Training& training,
                    const estimate::Target& target) {
  FitAnswer answer;
  const auto usable = static_cast<double>(target.usable_bytes());
  answer.batch = static_cast<std::int64_t>(training.batch);
  answer.peak = peak_of(estimate::by_formula(model, training), answer.batch);
  if (const auto most = estimate::max_batch(estimate::by_formula, model, training, usable); most > 0)
    answer.largest = most;
  answer.method = text("By formula: BatchScope's trainer cannot train this, so it was not tried.");
  answer.savings = savings_of(estimate::savings(model, training, usable, {}), answer.batch);
  return answer;
}

FitAnswer answer_of(const search::SearchResult& found, const std::vector<program::CardSaving>& savings) {
  FitAnswer answer;
  answer.batch = found.largest.value_or(1);
  if (found.memory)
    answer.peak = found.memory->at(answer.batch);
  answer.largest = found.largest;
  answer.safe = found.safe;
  for (const search::Probe& probe : found.probes)
    if (probe.batch == answer.batch)
      answer.reserved_bytes = probe.reserved_bytes;
  answer.method = QString::fromStdString(found.reason);
  if (answer.method.isEmpty())
    answer.method = text("The program itself on a pretended GPU, kernels not run.");
  for (const program::CardSaving& saving : savings)
    answer.savings.append({QString::fromStdString(saving.title),
                           !saving.why_not.empty() ? text("not tried")
                           : saving.largest        ? text("about %1").arg(format_count(*saving.largest))
                                                   : text("none"),
                           !saving.why_not.empty() ? QString::fromStdString(saving.why_not)
                           : saving.peak_bytes ? at_batch(static_cast<double>(*saving.peak_bytes), saving.batch, false)
                                               : QString()});
  return answer;
}

} // namespace batchscope::ui
