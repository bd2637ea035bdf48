#pragma once

#include <array>

#include <QFont>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QStyledItemDelegate>

class QGridLayout;
class QTableView;
class QVBoxLayout;

// Small parts that all pages are made of. UI thread.
namespace batchscope::ui {

class Theme;

/// A rounded frame with an optional title; put content into body().
class Card : public QFrame {
  Q_OBJECT

public:
  explicit Card(const QString& title = {}, QWidget* parent = nullptr);
  QVBoxLayout* body() const { return body_; }
  void set_title(const QString& title);
  /// Shows the title in the colour of errors.
  void set_alarming(bool alarming);

private:
  QLabel* title_;
  QVBoxLayout* body_;
};

/// One line that may be narrower than its text, which then ends in an ellipsis (or has it in its middle) and stands in
/// the tooltip: for names. Figures are never shortened.
class ElidedLabel : public QLabel {
  Q_OBJECT

public:
  explicit ElidedLabel(Qt::TextElideMode mode, QWidget* parent = nullptr);
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override; // tooltips

private:
  QString fitted() const;

  Qt::TextElideMode mode_;
};

/// Names dimmed on the left, elided where there is no room; values right-aligned with tabular figures, always whole.
/// `color` as "#rrggbb" draws a line sample.
class FactList : public QWidget {
  Q_OBJECT

public:
  explicit FactList(QWidget* parent = nullptr);
  struct Fact {
    QString name;
    QString value;
    QString color;         ///< of the line sample; empty: none
    bool alarming = false; ///< the value in the colour of errors
    QString help = {};     ///< tooltip; empty: none
  };
  void set_facts(const QList<Fact>& facts);

private:
  struct Row {
    QLabel* sample = nullptr;
    QLabel* name = nullptr;
    QLabel* value = nullptr;
    bool sampled = false; ///< the name stands behind a sample
  };
  void add_row();
  void show_fact(qsizetype number, const Fact& fact);

  QGridLayout* grid_;
  QList<Row> rows_; ///< kept from one set_facts() to the next: values change many times a second
};

/// Cells of a table that keep the colours of their texts where their row is chosen.
class RowDelegate : public QStyledItemDelegate {
  Q_OBJECT

public:
  explicit RowDelegate(const Theme& theme, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
  const Theme& theme_;
};

/// A word in a rounded coloured field: a run's status.
class Pill : public QLabel {
  Q_OBJECT

public:
  enum class Tone { neutral, accent, good, warning, error };
  explicit Pill(QWidget* parent = nullptr);
  void show_text(const QString& text, Tone tone);
};

/// The page's one action that stands out; at most one a page.
QPushButton* filled_button(const QString& text, QWidget* parent = nullptr);
QPushButton* plain_button(const QString& text, QWidget* parent = nullptr);
QLabel* page_title(const QString& text, QWidget* parent = nullptr);
QLabel* dimmed_label(const QString& text, QWidget* parent = nullptr);
/// A piece of a line in a series' colour and dashes, as a plot's legend has it.
QPixmap line_sample(const Theme& theme, int series, const QSize& size, double ratio);
/// What all tables have in common: rows are chosen whole, no grid, rows of the font's height, a quiet header.
void prepare_table(QTableView& table);
/// Frames an input in the colour of errors, or no more.
void mark_wrong(QWidget& input, bool wrong);
/// The widget's font where its digits are of equal width, else the system's fixed one: for figures beneath each other.
QFont figures_font(const QFont& font);
/// Makes the style sheet look again at a widget whose properties (`kind`, `tone`) changed.
void restyle(QWidget& widget);

/// What fills the memory, side by side: parts with name, bytes and colour, and one more that did not find room.
class StackedBar : public QWidget {
  Q_OBJECT

public:
  explicit StackedBar(const Theme& theme, QWidget* parent = nullptr);
  struct Part {
    QString name;
    double bytes = 0;
    int series = 0;       ///< colour: Theme::series()
    bool missing = false; ///< did not fit: dashed frame in the colour of errors
  };
  /// `limit` draws the line of the budget; 0: none.
  void set_parts(const QList<Part>& parts, double limit);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override; // tooltips

private:
  const Theme& theme_;
  QList<Part> parts_;
  double limit_ = 0;
};

/// A stacked bar and beneath it, in two columns, the names and megabytes of its parts.
class PartsBar : public QWidget {
  Q_OBJECT

public:
  explicit PartsBar(const Theme& theme, QWidget* parent = nullptr);
  void set_parts(const QList<StackedBar::Part>& parts, double limit);

private:
  const Theme& theme_;
  StackedBar* bar_;
  std::array<FactList*, 2> columns_{};
};

/// What went wrong and what to do about it, over the lower edge of what it is a child of, in no layout: nothing moves
/// when it comes or goes. The newest replaces the one before.
class Banner : public QFrame {
  Q_OBJECT

public:
  Banner(const Theme& theme, QWidget* parent);
  /// `action` is the text of a button; empty: none.
  void show_problem(const QString& text, const QString& action = {});
  void show_note(const QString& text, const QString& action = {});
  QString text() const; ///< empty while nothing is shown
  /// Puts it away; says dismissed() where something was shown.
  void dismiss();
  /// The same for a note; a problem stays.
  void dismiss_note();

Q_SIGNALS:
  void action_chosen();
  void dismissed();

protected:
  bool eventFilter(QObject* watched, QEvent* event) override; // of the parent

private:
  void show_text(const QString& text, const QString& action, bool problem);
  void show_icon();
  void place();

  const Theme& theme_;
  bool problem_ = false;
  QString full_text_;
  QLabel* icon_;
  QLabel* text_;
  QPushButton* action_;
  QWidget* close_;
};

/// What a page shows while it has nothing: what will be here, and the one step that fills it.
class EmptyState : public QWidget {
  Q_OBJECT

public:
  EmptyState(const QString& title, const QString& text, const QString& action, QWidget* parent = nullptr);

Q_SIGNALS:
  void action_chosen();
};

} // namespace batchscope::ui
