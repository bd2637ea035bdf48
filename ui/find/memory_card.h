#pragma once

#include "ui/find/search_view.h"
#include "ui/memory/memory_parts.h"

namespace batchscope::ui {

/// The predicted memory at the peak of a step of one size, broken down by use.
class MemoryCard : public Card {
  Q_OBJECT

public:
  explicit MemoryCard(const Theme& theme, QWidget* parent = nullptr);

  /// If no memory is predicted, says why.
  void show_size(const SearchView& view, std::optional<std::int64_t> batch);

private:
  MemoryParts* parts_;
};

} // namespace batchscope::ui
