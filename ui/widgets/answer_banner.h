#pragma once

#include <QFrame>

class QLabel;
class QToolButton;

namespace batchscope::ui {

class Pill;

/// The answer of a page, above its evidence: what it is, how sure that is, why, and on request the details. A card with
/// a bar at its left edge, green if the answer is sure. The texts can be selected. UI thread.
class AnswerBanner : public QFrame {
  Q_OBJECT

public:
  /// `close`: something else may be as good. `unknown`: what was measured does not say.
  enum class Certainty { unknown, close, sure };
  struct Answer {
    QString headline;    ///< "Batch size 64"
    QString reason = {}; ///< a sentence or two
    QString details = {};
    QString basis = {}; ///< to which goal it is the answer, and from which runs
    Certainty certainty = Certainty::unknown;
    QString text = {}; ///< the same but for the basis as in a terminal
  };

  explicit AnswerBanner(QWidget* parent = nullptr);

  void show_answer(const Answer& answer);
  /// Shows that there is no answer yet, and what is missing for one.
  void show_none(const QString& why);
  QString text() const; ///< as in a terminal

private:
  void show_details(bool shown);

  QLabel* headline_;
  Pill* pill_;
  QToolButton* more_;
  QLabel* reason_;
  QLabel* details_;
  QWidget* top_;
  QString plain_;
};

} // namespace batchscope::ui
