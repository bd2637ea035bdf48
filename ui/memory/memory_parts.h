#pragma once

#include <QWidget>

#include "core/predict/peak_curve.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// Uses of the memory at the peak of a step, as a stacked bar against the budget, and in words. UI thread.
class MemoryParts : public QWidget {
  Q_OBJECT

public:
  explicit MemoryParts(const Theme& theme, QWidget* parent = nullptr);
  /// `budget_bytes` 0: unknown. `measured`: the peak of a step that was made and fitted; the point is a prediction.
  void show_peak(const predict::PeakCurve::Point& point, std::uint64_t budget_bytes,
                 std::optional<std::uint64_t> measured = {});
  void show_text(const QString& text);            ///< instead of a peak

private:
  PartsBar* parts_;
  QLabel* text_;
};

} // namespace batchscope::ui
