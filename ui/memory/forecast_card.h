#pragma once

#include <memory>

#include "core/run/forecast.h"
#include "ui/memory/memory_parts.h"

namespace batchscope::ui {

/// The memory that the run described in a form will need, before it starts: the peak of a step and what fills it, and
/// the largest batch that fits. UI thread.
class ForecastCard : public Card {
  Q_OBJECT

public:
  explicit ForecastCard(const Theme& theme, QWidget* parent = nullptr);

  /// At the batch size of the spec, or at the largest that fits if a search is to choose it.
  void show_forecast(const run::Forecast& forecast, const run::RunSpec& spec);
  /// Why there is no forecast.
  void show_none(const QString& why);

private:
  MemoryParts* parts_;
  FactList* facts_;
  QLabel* remark_;
};

} // namespace batchscope::ui
