#pragma once

#include <QFrame>

class QLabel;

namespace batchscope::ui {

/// The answer of a page in one or two sentences, above its evidence: a card with a bar at its left edge, green if the
/// answer is certain. The text can be selected. UI thread.
class AnswerBanner : public QFrame {
  Q_OBJECT

public:
  explicit AnswerBanner(QWidget* parent = nullptr);

  /// `text` begins with `headline`, which is set in bold; the headline may be empty. `basis`: to which goal it is the
  /// answer, and from which runs; may be empty.
  void show_answer(const QString& headline, const QString& text, bool certain, const QString& basis = {});
  /// Shows that there is no answer yet, and what is missing for one.
  void show_none(const QString& why);
  QString text() const; ///< as shown, without markup

private:
  QLabel* text_;
  QString plain_;
};

} // namespace batchscope::ui
