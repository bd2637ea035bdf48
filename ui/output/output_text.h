#pragma once

#include <QPlainTextEdit>
#include <QTextBlock>
#include <QTimer>

#include <optional>

#include "ui/output/line_hits.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// The last lines of a program's output. Stays at its end while lines come, unless the user has scrolled up. Marks what
/// is searched. UI thread.
class OutputText : public QPlainTextEdit {
  Q_OBJECT

public:
  static constexpr int most_characters = 2'500'000; ///< above, the first lines are left out

  explicit OutputText(const Theme& theme, QWidget* parent = nullptr);

  void clear_lines();
  /// Lines from number `from` on, counted from 0, are now these; lines above stay. An empty one at the end is not
  /// shown.
  void replace_from(qint64 from, const QStringList& lines);
  qint64 line_count() const;
  bool has_left_out() const { return first_ > 0; } ///< lines at the top, because there were too many

  /// Marks where the text occurs, without regard to case; empty: nothing. Of many lines the rest is searched later, and
  /// hits_changed() comes again.
  void search(const QString& text);
  std::size_t hit_count() const { return hits_.all().size(); }
  std::optional<std::size_t> current_hit() const; ///< index of the hit that is selected
  /// Selects the first hit at or behind the selection, or, without one, the first line that is seen; else the first of
  /// all. As soon as it is found.
  void go_to_nearest();
  /// Selects the next hit, or the one in front of the selection; after the last, the first.
  void go_to_next();
  void go_to_previous();

Q_SIGNALS:
  void hits_changed(); ///< how many there are, or which one is selected

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  qint64 number_of(const QTextBlock& block) const { return first_ + block.blockNumber(); }
  LineHits::Hit place_of_selection() const;
  void go_to(std::optional<std::size_t> hit);
  void search_more();
  void write(qint64 from, const QStringList& lines);
  void leave_out_first_lines();
  void scroll();
  void mark_hits();

  const Theme& theme_;
  qint64 first_ = 0;      ///< number of the first line that is here
  bool follows_ = true;   ///< is to stay at the end
  bool changing_ = false; ///< scrolling is not the user's
  LineHits hits_;
  qint64 searched_to_ = 0; ///< number of the first line that was not searched
  bool wants_hit_ = false; ///< go_to_nearest() waits for one
  QTimer more_;            ///< to be searched
};

} // namespace batchscope::ui
