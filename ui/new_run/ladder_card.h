#pragma once

#include <array>

#include "ui/widgets/widgets.h"

namespace batchscope::program {
struct Tryout;
}
namespace batchscope::run {
struct RunSpec;
}

namespace batchscope::ui {

/// "What this program can do": the levels of a program of the user's own, each with what works or what one line would
/// add. UI thread.
class LadderCard : public Card {
  Q_OBJECT

public:
  explicit LadderCard(QWidget* parent = nullptr);
  /// `tried`: what its test has shown; null if it was not tested. `takes_batch`: {batch} is in its command.
  void show_program(bool takes_batch, bool attach, const program::Tryout* tried);

private:
  struct Rung {
    QLabel* mark;
    QLabel* title;
    QLabel* text;
  };
  void show_rung(std::size_t level, bool works, const QString& text);
  QString verdict(bool attach, const program::Tryout& tried) const;

  std::array<Rung, 4> rungs_{};
  QLabel* verdict_;
};

} // namespace batchscope::ui
