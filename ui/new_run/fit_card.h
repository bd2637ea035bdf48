#pragma once

#include "ui/widgets/widgets.h"

class QComboBox;
class QPushButton;

namespace batchscope::search {
struct SearchResult;
}

namespace batchscope::ui {

class MemoryParts;

/// "Will it fit?": the sizes of a program of the user's own on a GPU that need not be here. UI thread.
class FitCard : public Card {
  Q_OBJECT

public:
  explicit FitCard(const Theme& theme, QWidget* parent = nullptr);

  QString chosen() const; ///< name of the card
  QComboBox& cards() { return *cards_; }
  void show_none();
  void show_working(const QString& activity);
  void show_result(const search::SearchResult& result, const QString& card);
  void show_failure(const QString& error);

Q_SIGNALS:
  void wanted();   ///< the search on the chosen card
  void unwanted(); ///< the search that works

private:
  void show_text(const QString& text, bool works);

  QComboBox* cards_;
  QPushButton* start_;
  QLabel* text_;
  MemoryParts* parts_;
  FactList* facts_;
  bool works_ = false;
};

} // namespace batchscope::ui
