#include "ui/window/status_line.h"

#include <utility>

#include <QLabel>

#include "core/base/error.h"
#include "core/base/host.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

constexpr int refresh_ms = 500;

/// Bytes in use after the last step; nothing before the first one.
std::optional<double> in_use(const OpenRun& run) {
  const series::Series* series = run.history()->find("allocated_bytes");
  if (series == nullptr || series->values.size() == 0)
    return std::nullopt;
  return series->values.back();
}

QString free_memory() {
  try {
    return StatusLine::tr("%1 memory free").arg(format_bytes(static_cast<double>(free_host_memory())));
  } catch (const Error&) {
    return {}; // the system does not report it
  }
}

} // namespace

StatusLine::StatusLine(Workbench& workbench, QWidget* parent)
    : QStatusBar(parent), workbench_(workbench), device_(new QLabel(this)), threads_(new QLabel(this)),
      followed_(new QLabel(this)), stored_(new QLabel(this)), read_only_(new Pill(this)) {
  setSizeGripEnabled(false);
  device_->setToolTip(tr("Device and memory budget of the shown run, and its memory in use after the last step"));
  threads_->setToolTip(tr("CPU threads used for training"));
  stored_->setObjectName(QStringLiteral("stored"));
  addWidget(device_);
  addWidget(threads_);
  followed_->setObjectName(QStringLiteral("followed"));
  addWidget(followed_);
  read_only_->setObjectName(QStringLiteral("read_only"));
  read_only_->show_text(tr("read-only"), Pill::Tone::warning);
  addPermanentWidget(read_only_);
  addPermanentWidget(stored_);
  timer_.setInterval(refresh_ms);
  connect(&timer_, &QTimer::timeout, this, &StatusLine::refresh);
  connect(&workbench, &Workbench::current_changed, this, &StatusLine::refresh);
  connect(&workbench.run_database(), &RunDatabase::read_only_changed, this, &StatusLine::show_read_only);
  connect(&workbench.job_queue(), &JobQueue::library_loaded, this, &StatusLine::show_threads);
  connect(&workbench.run_database().followed_imports(), &FollowedImports::changed, this, &StatusLine::show_followed);
  show_read_only();
  show_threads();
  show_followed();
  refresh();
}

void StatusLine::showEvent(QShowEvent* event) {
  refresh();
  timer_.start();
  QStatusBar::showEvent(event);
}

void StatusLine::hideEvent(QHideEvent* event) {
  timer_.stop();
  QStatusBar::hideEvent(event);
}

void StatusLine::show_read_only() {
  const QString& why = workbench_.run_database().read_only();
  read_only_->setVisible(!why.isEmpty());
  read_only_->setToolTip(why);
  stored_->setVisible(why.isEmpty());
}

void StatusLine::show_threads() {
  const std::optional<int> threads = workbench_.job_queue().threads();
  threads_->setVisible(threads.has_value());
  if (threads)
    threads_->setText(*threads == 1 ? tr("1 thread") : tr("%1 threads").arg(format_count(*threads)));
}

void StatusLine::show_followed() {
  const QStringList paths = workbench_.run_database().followed_imports().paths();
  followed_->setVisible(!paths.isEmpty());
  followed_->setText(paths.size() == 1 ? tr("following 1 file") : tr("following %1 files").arg(paths.size()));
  followed_->setToolTip(paths.join(u'\n'));
}

void StatusLine::refresh() {
  device_->setText(device_text());
  const auto load = workbench_.job_queue().backlog();
  stored_->setText(!load.error.empty() ? tr("Not saved yet; retrying")
                   : load.waiting > 0  ? tr("Saving…")
                                       : tr("All saved"));
  const QString counts = tr("%1 records saved since the window opened, %2 waiting")
                             .arg(format_count(static_cast<std::int64_t>(load.stored)),
                                  format_count(static_cast<std::int64_t>(load.waiting)));
  const QString error = QString::fromStdString(load.error);
  stored_->setToolTip(error.isEmpty() ? counts : tr("%1\n%2").arg(counts, error));
  if (std::exchange(trouble_, error) != error)
    Q_EMIT not_storing(error);
}

QString StatusLine::device_text() const {
  const OpenRun* run = workbench_.current();
  if (run == nullptr || !run->start() || !run->spec())
    return free_memory();
  const auto& program = run->start()->program;
  QStringList parts{
      QString::fromStdString(program && !program->device.empty() ? program->device : run->spec()->device)};
  if (const std::string& card = run->start()->card; !card.empty())
    parts.front() += QStringLiteral(", ") + QString::fromStdString(card);
  if (run->budget() > 0)
    parts.append(tr("budget %1").arg(format_bytes(static_cast<double>(run->budget()))));
  if (const auto bytes = in_use(*run); bytes && run->running())
    parts.append(
        (run->reads_whole_process() ? tr("%1 in use, libraries included") : tr("%1 in use")).arg(format_bytes(*bytes)));
  return parts.join(QStringLiteral(" · "));
}

} // namespace batchscope::ui

#include "moc_status_line.cpp"
