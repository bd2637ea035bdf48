#include <QFontDatabase>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QStyle>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// A button that Enter presses, as Space does; Qt does that in dialogs only.
class Button : public QPushButton {
public:
  using QPushButton::QPushButton;

protected:
  void keyPressEvent(QKeyEvent* event) override {
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier)
      click();
    else
      QPushButton::keyPressEvent(event);
  }
};

QPushButton* button_of_kind(const char* kind, const QString& text, QWidget* parent) {
  auto* button = new Button(text, parent);
  button->setProperty("kind", QLatin1String(kind));
  // In a dialog, Enter presses the dialog's default button.
  button->setAutoDefault(false);
  return button;
}

QLabel* label_of_kind(const char* kind, const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("kind", QLatin1String(kind));
  label->setTextFormat(Qt::PlainText);
  return label;
}

QString name_of(Pill::Tone tone) {
  switch (tone) {
  case Pill::Tone::accent:
    return QStringLiteral("accent");
  case Pill::Tone::good:
    return QStringLiteral("good");
  case Pill::Tone::warning:
    return QStringLiteral("warning");
  case Pill::Tone::error:
    return QStringLiteral("error");
  case Pill::Tone::neutral:
    break;
  }
  return QStringLiteral("neutral");
}

} // namespace

Pill::Pill(QWidget* parent) : QLabel(parent) {
  setProperty("kind", QStringLiteral("pill"));
  setProperty("tone", name_of(Tone::neutral));
  setTextFormat(Qt::PlainText);
  setAlignment(Qt::AlignCenter);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Pill::show_text(const QString& text, Tone tone) {
  setText(text);
  if (property("tone") == name_of(tone))
    return;
  setProperty("tone", name_of(tone));
  restyle(*this);
}

EmptyState::EmptyState(const QString& title, const QString& text, const QString& action, QWidget* parent)
    : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(Theme::lines(0.75));
  layout->addStretch(2);
  layout->addWidget(page_title(title, this), 0, Qt::AlignHCenter);
  auto* explanation = dimmed_label(QString(text).replace(QLatin1String(" %"), QStringLiteral("\u00a0%")), this);
  explanation->setWordWrap(true);
  explanation->setAlignment(Qt::AlignHCenter);
  explanation->setFixedWidth(Theme::lines(28));
  // In a row of its own, the layout knows the text's real width, and so its height.
  auto* row = new QHBoxLayout;
  row->addStretch();
  row->addWidget(explanation);
  row->addStretch();
  layout->addLayout(row);
  if (!action.isEmpty()) {
    auto* button = filled_button(action, this);
    layout->addSpacing(Theme::lines(0.25));
    layout->addWidget(button, 0, Qt::AlignHCenter);
    connect(button, &QPushButton::clicked, this, &EmptyState::action_chosen);
    setFocusProxy(button);
  }
  layout->addStretch(3);
}

QPushButton* filled_button(const QString& text, QWidget* parent) {
  return button_of_kind("filled", text, parent);
}

QPushButton* plain_button(const QString& text, QWidget* parent) {
  return button_of_kind("plain", text, parent);
}

QLabel* page_title(const QString& text, QWidget* parent) {
  return label_of_kind("title", text, parent);
}

QWidget* page_header(const QString& title, const QString& caption, const QList<QWidget*>& buttons, QWidget* parent) {
  constexpr int gap = 10;
  auto* header = new QWidget(parent);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap);
  auto* what = new ElidedLabel(Qt::ElideRight, header);
  what->setProperty("kind", QStringLiteral("dimmed"));
  what->setText(caption);
  row->addWidget(page_title(title, header));
  row->addWidget(what, 1);
  for (QWidget* button : buttons)
    row->addWidget(button);
  return header;
}

QLabel* dimmed_label(const QString& text, QWidget* parent) {
  return label_of_kind("dimmed", text, parent);
}

void prepare_table(QTableView& table) {
  if (!qobject_cast<CellDelegate*>(table.itemDelegate()))
    table.setItemDelegate(new CellDelegate(&table));
  table.setShowGrid(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.setWordWrap(false);
  table.setCornerButtonEnabled(false);
  // Tab moves on to the next widget; the arrow keys move within the table.
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setMinimumSectionSize(Theme::lines(1.7));
  table.verticalHeader()->setDefaultSectionSize(Theme::lines(1.7));
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void mark_wrong(QWidget& input, bool wrong) {
  if (input.property("wrong").toBool() == wrong)
    return;
  input.setProperty("wrong", wrong);
  restyle(input);
}

QFont figures_font(const QFont& font) {
  const QFontMetricsF metrics(font);
  const qreal width = metrics.horizontalAdvance(QLatin1Char('0'));
  for (const char digit : {'1', '2', '3', '4', '5', '6', '7', '8', '9'}) {
    if (!qFuzzyCompare(metrics.horizontalAdvance(QLatin1Char(digit)), width)) {
      QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
      fixed.setPointSizeF(QFontInfo(font).pointSizeF());
      fixed.setWeight(font.weight());
      return fixed;
    }
  }
  return font;
}

void restyle(QWidget& widget) {
  widget.style()->unpolish(&widget);
  widget.style()->polish(&widget);
}

} // namespace batchscope::ui

#include "moc_widgets.cpp"
