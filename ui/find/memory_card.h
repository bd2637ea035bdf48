#pragma once

#include "ui/find/search_view.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// The predicted memory at the peak of a step of one size, broken down by use.
class MemoryCard : public Card {
  Q_OBJECT

public:
  explicit MemoryCard(const Theme& theme, QWidget* parent = nullptr);

  /// If the search predicts no memory, it says which strategy does.
  void show_size(const SearchView& view, std::optional<std::int64_t> batch);

private:
  void fill(const predict::PeakCurve::Point& point, std::uint64_t budget);

  PartsBar* parts_;
  QLabel* text_;
};

} // namespace batchscope::ui
