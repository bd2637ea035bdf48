#include "ui/new_run/run_panel.h"

#include <QBoxLayout>
#include <QScrollArea>

#include "ui/new_run/field_editor.h"
#include "ui/new_run/field_help.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr int panel_gap = 10;
constexpr double side_lines = 24;

QScrollArea* scrolled(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(content);
  return area;
}

QVBoxLayout* column_in(QWidget* widget) {
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(panel_gap);
  return column;
}

} // namespace

RunPanel::RunPanel(FormKind kind, QWidget* parent)
    : QWidget(parent), form_(new SpecForm(kind, this)), help_(new FieldHelp(this)) {
  connect(form_, &SpecForm::field_entered, help_, &FieldHelp::show_field);
  connect(form_, &SpecForm::field_entered, this, [this](const run::SpecField& field) {
    scroll_->ensureWidgetVisible(form_->editor(field.key), 0, panel_gap);
  });
  help_->show_field(*form_fields(kind).front());
}

void RunPanel::scroll_to(QWidget& card) {
  QMetaObject::invokeMethod(
      this, [this, &card] { scroll_->ensureWidgetVisible(&card, 0, panel_gap); }, Qt::QueuedConnection);
}

void RunPanel::lay_out(QWidget* below, const QList<QWidget*>& side) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(panel_gap);
  auto* main = new QWidget(this);
  auto* main_column = column_in(main);
  main_column->addWidget(form_);
  if (below)
    main_column->addWidget(below);
  main_column->addStretch();
  scroll_ = scrolled(main, this);
  row->addWidget(scroll_, 1);

  auto* beside = new QWidget(this);
  auto* side_column = column_in(beside);
  for (QWidget* card : side)
    side_column->addWidget(card);
  side_column->addWidget(help_);
  side_column->addStretch();
  auto* side_scroll = scrolled(beside, this);
  side_scroll->setFixedWidth(Theme::lines(side_lines));
  row->addWidget(side_scroll);
}

} // namespace batchscope::ui

#include "moc_run_panel.cpp"
