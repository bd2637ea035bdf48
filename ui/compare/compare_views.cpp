#include <QComboBox>
#include <QInputDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>
#include <QSplitter>

#include <algorithm>

#include "ui/compare/compare_header.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/compare_table.h"
#include "ui/compare/compare_table_model.h"
#include "ui/compare/curves_card.h"
#include "ui/compare/parallel_plot.h"
#include "ui/workbench/goal_box.h"

// State that the Compare page keeps: between starts, and as views that are saved in the database under a name.
namespace batchscope::ui {

namespace {

QJsonArray sizes_of(const QSplitter& splitter) {
  QJsonArray sizes;
  for (const int size : splitter.sizes())
    sizes.append(size);
  return sizes;
}

void set_sizes(QSplitter& splitter, const QJsonArray& kept) {
  QList<int> sizes;
  for (const QJsonValue& size : kept)
    sizes.append(size.toInt());
  if (sizes.size() == splitter.count() && std::all_of(sizes.begin(), sizes.end(), [](int size) { return size > 0; }))
    splitter.setSizes(sizes);
}

} // namespace

QJsonObject ComparePage::content() const {
  QJsonArray values;
  for (const SeriesAt& at : values_)
    values.append(QJsonObject{{"series", QString::fromStdString(at.series)}, {"step", qint64(at.step)}});
  return {{"filter", header_->filter().text()},
          {"goal", header_->goal().text()},
          {"group", header_->grouping()},
          {"axes", parallel_->state()},
          {"scatter", QJsonArray{wanted_x_, wanted_y_}},
          {"curves", curves_->state()},
          {"table", table_->runs().state()},
          {"values", values}};
}

void ComparePage::show_content(const QJsonObject& content) {
  values_.clear();
  for (const QJsonValue& value : content["values"].toArray())
    if (const QJsonObject kept = value.toObject(); kept["series"].isString())
      values_.push_back({kept["series"].toString().toStdString(), kept["step"].toInteger()});
  header_->goal().set_text(content["goal"].toString(QStringLiteral("accuracy")));
  header_->set_grouping(content["group"].toString());
  view_.set_grouping(header_->grouping());
  parallel_->restore(content["axes"].toArray());
  wanted_x_ = content["scatter"].toArray().at(0).toString();
  wanted_y_ = content["scatter"].toArray().at(1).toString();
  fill_scatter_fields();
  curves_->restore(content["curves"].toObject());
  table_->runs().restore(content["table"].toObject());
  header_->filter().setText(content["filter"].toString());
}

QJsonObject ComparePage::state() const {
  QJsonObject state = content();
  state["scope"] = scope_.state();
  state["database"] = QString::fromStdString(workbench_.run_database().database().string());
  state["rows"] = sizes_of(*rows_);
  state["plots"] = sizes_of(*plots_);
  return state;
}

void ComparePage::restore(const QJsonObject& state) {
  // In another database, its numbers are those of other sweeps and runs.
  const bool same_database =
      state["database"].toString() == QString::fromStdString(workbench_.run_database().database().string());
  scope_ = same_database ? RunScope::from(state["scope"].toObject()) : RunScope();
  header_->set_scope(scope_);
  show_content(state);
  set_sizes(*rows_, state["rows"].toArray());
  set_sizes(*plots_, state["plots"].toArray());
  request();
}

void ComparePage::fill_views_menu() {
  RunDatabase& database = workbench_.run_database();
  QMenu* menu = header_->views_menu();
  menu->clear();
  for (const store::SavedView& saved : database.views()) {
    const QString name = QString::fromStdString(saved.name);
    const QJsonObject kept = QJsonDocument::fromJson(QByteArray::fromStdString(saved.content_json)).object();
    if (kept["page"].toString() != key())
      continue;
    connect(menu->addAction(name), &QAction::triggered, this, [this, kept] {
      show_content(kept);
      compare_now();
    });
  }
  if (menu->isEmpty())
    menu->addAction(tr("No saved views"))->setEnabled(false);
  menu->addSeparator();
  const QList<QAction*> saved = menu->actions();
  QAction* save = menu->addAction(tr("Save view…"));
  save->setToolTip(tr("Save filter, goal, axes and columns in the database under a name"));
  save->setEnabled(database.read_only().isEmpty());
  connect(save, &QAction::triggered, this, &ComparePage::ask_for_view_name);
  QMenu* remove = menu->addMenu(tr("Delete view"));
  for (const QAction* each : saved)
    if (!each->isSeparator() && each->isEnabled())
      connect(remove->addAction(each->text()), &QAction::triggered, this,
              [this, name = each->text()] { workbench_.run_database().delete_view(name); });
  remove->setEnabled(!remove->isEmpty() && database.read_only().isEmpty());
}

void ComparePage::ask_for_view_name() {
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Save view"));
  dialog->setLabelText(tr("Name of the view. A view with the same name is replaced."));
  connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
    const QString name = text.trimmed();
    if (name.isEmpty())
      return;
    QJsonObject kept = content();
    kept["page"] = key();
    workbench_.run_database().save_view(name, QString::fromUtf8(QJsonDocument(kept).toJson(QJsonDocument::Compact)));
  });
  dialog->open();
}

void ComparePage::ask_for_value() {
  QStringList series;
  for (const CompareField& field : view_.comparison().fields)
    if (field.key.endsWith(QLatin1String(":last")))
      series.append(field.key.chopped(5));
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Value of a series at a step"));
  dialog->setLabelText(tr("Series and step, such as loss@100. Series: %1").arg(series.join(QStringLiteral(", "))));
  connect(dialog, &QInputDialog::textValueSelected, this, [this, series](const QString& text) {
    const QString name = text.section(u'@', 0, 0).trimmed();
    bool is_number = false;
    const qint64 step = text.section(u'@', 1).trimmed().toLongLong(&is_number);
    if (!series.contains(name) || !is_number || step < 0) {
      Q_EMIT workbench_.problem(
          tr("\"%1\" is not a series and a step; expected SERIES@STEP such as loss@100, with one of the series %2")
              .arg(text, series.join(QStringLiteral(", "))));
      return;
    }
    const SeriesAt at{name.toStdString(), step};
    if (std::find(values_.begin(), values_.end(), at) == values_.end())
      values_.push_back(at);
    compare_now();
  });
  dialog->open();
}

} // namespace batchscope::ui
