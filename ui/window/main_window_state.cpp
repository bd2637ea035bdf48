// The state that the window keeps between starts.
#include <utility>

#include <QActionGroup>
#include <QFileInfo>
#include <QJsonArray>

#include "ui/widgets/file_dialog.h"
#include "ui/window/main_window.h"

namespace batchscope::ui {

namespace {

const QString geometry_key = QStringLiteral("geometry");
const QString page_key = QStringLiteral("page");
const QString pages_key = QStringLiteral("pages");
const QString colours_key = QStringLiteral("colours");
const QString databases_key = QStringLiteral("databases");
const QString runs_key = QStringLiteral("runs");
const QString folder_key = QStringLiteral("folder");

const QList<std::pair<Theme::Mode, QString>> mode_names{
    {Theme::Mode::system, "system"}, {Theme::Mode::light, "light"}, {Theme::Mode::dark, "dark"}};

QStringList texts_of(const QJsonValue& value) {
  QStringList texts;
  for (const QJsonValue each : value.toArray()) {
    if (each.isString())
      texts.append(each.toString());
  }
  return texts;
}

} // namespace

QString MainWindow::last_database(const Settings& settings) {
  return texts_of(settings.peek().value(databases_key)).value(0);
}

void MainWindow::restore() {
  for (const Page* each : std::as_const(pages_))
    fresh_states_.insert(each->key(), each->state());
  QString problem;
  kept_ = settings_.load(&problem);
  place_by_default();
  restoreGeometry(QByteArray::fromBase64(kept_.value(geometry_key).toString().toLatin1()));
  setProperty(saved_in_property, kept_.value(folder_key).toString());
  for (const auto& [mode, name] : mode_names) {
    if (kept_.value(colours_key).toString() == name)
      set_mode(mode);
  }
  for (Page* each : std::as_const(pages_))
    each->restore(kept_.value(pages_key).toObject().value(each->key()).toObject());
  const QString database =
      QFileInfo(QString::fromStdString(workbench_.run_database().database().string())).absoluteFilePath();
  recent_ = texts_of(kept_.value(databases_key));
  const bool same = recent_.value(0) == database;
  recent_.removeAll(database);
  recent_.prepend(database);
  show_page(kept_.value(page_key).toString());
  if (shown_page().isEmpty() || page(kept_.value(page_key).toString()) == nullptr)
    show_page(pages_.first()->key());
  if (same)
    restore_runs(kept_);
  show_problem(problem);
}

void MainWindow::restore_runs(const QJsonObject& kept) {
  QList<qint64> wanted;
  for (const QJsonValue id : kept.value(runs_key).toArray())
    wanted.append(id.toInteger());
  if (wanted.isEmpty())
    return;
  // Once the database has been read: runs may have been deleted since.
  auto* once = new QObject(this);
  connect(&workbench_.run_database(), &RunDatabase::runs_changed, once, [this, once, wanted] {
    once->deleteLater();
    QList<qint64> there;
    for (const store::RunRow& row : workbench_.run_database().runs()) {
      if (wanted.contains(row.id))
        there.append(row.id);
    }
    std::sort(there.begin(), there.end(),
              [&wanted](qint64 one, qint64 other) { return wanted.indexOf(one) < wanted.indexOf(other); });
    // Does not replace runs that were opened or started in the meantime.
    if (workbench_.opened().isEmpty() && !there.isEmpty())
      workbench_.open(there);
  });
}

void MainWindow::reset_layout() {
  place_by_default();
  for (Page* each : std::as_const(pages_))
    each->restore(fresh_states_.value(each->key()));
  keep();
}

QJsonObject MainWindow::content() const {
  QJsonObject pages;
  for (const Page* each : pages_)
    pages.insert(each->key(), each->state());
  QJsonArray runs;
  for (const OpenRun* run : workbench_.opened())
    runs.append(static_cast<qint64>(run->id()));
  QJsonObject content;
  for (const auto& [mode, name] : mode_names) {
    if (mode == theme_.mode())
      content.insert(colours_key, name);
  }
  content.insert(geometry_key, QString::fromLatin1(saveGeometry().toBase64()));
  content.insert(page_key, shown_page());
  content.insert(pages_key, pages);
  content.insert(databases_key, QJsonArray::fromStringList(recent_));
  content.insert(runs_key, runs);
  content.insert(folder_key, property(saved_in_property).toString());
  return content;
}

void MainWindow::keep() {
  const QJsonObject now = content();
  if (keeping_ || now == kept_)
    return; // changes in the meantime are saved next time
  keeping_ = true;
  writer_.post([this, settings = settings_, now] {
    QString problem;
    settings.save(now, &problem);
    saved_.post([this, now, problem] {
      if (std::exchange(keeping_, false))
        note_kept(now, problem);
    });
  });
}

void MainWindow::keep_now() {
  writer_.wait();
  const QJsonObject now = content();
  // The save in progress may have older state than the one before.
  if (!std::exchange(keeping_, false) && now == kept_)
    return;
  QString problem;
  settings_.save(now, &problem);
  note_kept(now, problem);
}

void MainWindow::note_kept(const QJsonObject& content, const QString& problem) {
  if (problem.isEmpty()) {
    kept_ = content;
    keep_failed_ = false;
  } else if (!std::exchange(keep_failed_, true)) {
    show_problem(problem);
  }
}

} // namespace batchscope::ui
