#pragma once

#include <array>
#include <optional>

#include <QFont>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QStyledItemDelegate>

class QGridLayout;
class QTableView;
class QVBoxLayout;

// Small widgets that all pages use. UI thread.
namespace batchscope::ui {

class Theme;

/// A rounded frame with an optional title; put content into body().
class Card : public QFrame {
  Q_OBJECT

public:
  explicit Card(const QString& title = {}, QWidget* parent = nullptr);
  QVBoxLayout* body() const { return body_; }
  void set_title(const QString& title);
  /// Shows the title in the error colour.
  void set_alarming(bool alarming);

private:
  QLabel* title_;
  QVBoxLayout* body_;
};

/// A one-line label for names that may be narrower than its text, which is then elided (at the end or in the middle)
/// and shown in full in the tooltip. Not for numbers.
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

/// A list of names and values. Names are dimmed, on the left, and elided if space is short; values are right-aligned
/// with tabular figures and never elided. `color` as "#rrggbb" draws a line sample.
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
    bool sampled = false; ///< the name follows a sample
  };
  void add_row();
  void show_fact(qsizetype number, const Fact& fact);

  QGridLayout* grid_;
  QList<Row> rows_; ///< reused by set_facts(): values change many times a second
};

/// Cells of all tables: no number in them is ever cut. Where a text does not fit, the tooltip has it whole.
class CellDelegate : public QStyledItemDelegate {
  Q_OBJECT

public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;
  /// The text as it is painted.
  QString shown_text(const QStyleOptionViewItem& option, const QModelIndex& index) const;

private:
  QStyleOptionViewItem as_painted(QStyleOptionViewItem option, const QModelIndex& index) const;
};

/// Entries of a combo box's list that show the text of this role, if they have one; the box, which has less room, shows
/// the usual one.
class ListTextDelegate : public QStyledItemDelegate {
public:
  ListTextDelegate(int role, QObject* parent) : QStyledItemDelegate(parent), role_(role) {}

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (const QVariant text = index.data(role_); text.isValid())
      option->text = text.toString();
  }

private:
  const int role_;
};

/// Table cells that keep their text colours in a selected row.
class RowDelegate : public CellDelegate {
  Q_OBJECT

public:
  explicit RowDelegate(const Theme& theme, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
  const Theme& theme_;
};

/// A word on a rounded coloured background: a run's status.
class Pill : public QLabel {
  Q_OBJECT

public:
  enum class Tone { neutral, accent, good, warning, error };
  explicit Pill(QWidget* parent = nullptr);
  void show_text(const QString& text, Tone tone);
};

/// The primary button of a page; at most one per page.
QPushButton* filled_button(const QString& text, QWidget* parent = nullptr);
QPushButton* plain_button(const QString& text, QWidget* parent = nullptr);
QLabel* page_title(const QString& text, QWidget* parent = nullptr);
/// Above a page: its title, what it is about, and its buttons.
QWidget* page_header(const QString& title, const QString& caption, const QList<QWidget*>& buttons, QWidget* parent);
QLabel* dimmed_label(const QString& text, QWidget* parent = nullptr);
/// A short line in a series' colour and dashes, as in a plot's legend.
QPixmap line_sample(const Theme& theme, int series, const QSize& size, double ratio);
/// Settings common to all tables: whole rows are selected, no grid, row height from the font, a plain header.
void prepare_table(QTableView& table);
/// Shows or removes an input's frame in the error colour.
void mark_wrong(QWidget& input, bool wrong);
/// The widget's font if its digits have equal width, else the system's fixed-width font: for aligned numbers.
QFont figures_font(const QFont& font);
/// Reapplies the style sheet to a widget whose properties (`kind`, `tone`) have changed.
void restyle(QWidget& widget);

/// A stacked bar of memory use: parts with name, bytes and colour, and one more that did not fit.
class StackedBar : public QWidget {
  Q_OBJECT

public:
  explicit StackedBar(const Theme& theme, QWidget* parent = nullptr);
  struct Part {
    QString name;
    double bytes = 0;
    int series = 0;       ///< colour: Theme::series()
    bool missing = false; ///< did not fit: dashed frame in the error colour
  };
  /// `limit` draws a line at the budget; 0: none.
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

/// A stacked bar and, below it in two columns, the names and bytes of its parts.
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

/// Shows a problem and what to do about it at the lower edge of its parent, outside the layout. While it is there, the
/// parent's layout leaves that edge free where it has the room, so that no last row is covered; nothing else moves. A
/// new text replaces the one before.
class Banner : public QFrame {
  Q_OBJECT

public:
  Banner(const Theme& theme, QWidget* parent);
  /// `action` is the text of a button; empty: none.
  void show_problem(const QString& text, const QString& action = {});
  /// Something that may become a problem if nothing is done.
  void show_warning(const QString& text);
  void show_note(const QString& text, const QString& action = {});
  QString text() const; ///< empty if hidden
  /// Hides it; emits dismissed() if it was visible.
  void dismiss();
  /// Hides a note; a problem or a warning stays.
  void dismiss_note();

Q_SIGNALS:
  void action_chosen();
  void dismissed();

protected:
  bool eventFilter(QObject* watched, QEvent* event) override; // of the parent

private:
  enum class Tone { note, warning, problem };

  void show_text(const QString& text, const QString& action, Tone tone);
  void show_icon();
  void place();
  void leave_free(int height); ///< px of the parent's lower edge

  const Theme& theme_;
  Tone tone_ = Tone::note;
  QString full_text_;
  QLabel* icon_;
  QLabel* text_;
  QPushButton* action_;
  QWidget* close_;
  std::optional<int> below_; ///< px of the parent's lower margin without the banner, while it is there
};

/// Shown by an empty page: what will be here, and the one action that fills it.
class EmptyState : public QWidget {
  Q_OBJECT

public:
  EmptyState(const QString& title, const QString& text, const QString& action, QWidget* parent = nullptr);

Q_SIGNALS:
  void action_chosen();
};

} // namespace batchscope::ui
