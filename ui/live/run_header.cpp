#include "ui/live/run_header.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int progress_steps = 1000;

Pill::Tone tone_of(const QString& status) {
  if (status == "running")
    return Pill::Tone::accent;
  if (status == "finished")
    return Pill::Tone::good;
  if (status == "failed")
    return Pill::Tone::error;
  return status == "paused" || status == "interrupted" ? Pill::Tone::warning : Pill::Tone::neutral;
}

QString word_of(const QString& status) {
  const std::pair<const char*, QString> words[] = {
      {"running", RunHeader::tr("running")},   {"paused", RunHeader::tr("paused")},
      {"finished", RunHeader::tr("finished")}, {"stopped", RunHeader::tr("stopped")},
      {"failed", RunHeader::tr("failed")},     {"interrupted", RunHeader::tr("interrupted")},
      {"loading", RunHeader::tr("being read")}};
  for (const auto& [name, word] : words) {
    if (status == name)
      return word;
  }
  return status;
}

std::optional<double> newest(const OpenRun& run, const char* name) {
  const series::Series* series = run.history()->find(name);
  if (series == nullptr || series->values.size() == 0)
    return std::nullopt;
  return series->values.back();
}

} // namespace

RunHeader::RunHeader(QWidget* parent)
    : QWidget(parent), name_(page_title({}, this)), status_(new Pill(this)), pending_(new Pill(this)),
      progress_(new QProgressBar(this)), figures_(dimmed_label({}, this)),
      pause_(make_action(tr("Pause the run"), tr("Pause"), tr("Pause or continue at the next step"), Qt::Key_Space)),
      step_(
          make_action(tr("Make one step"), tr("Step"), tr("Make one optimizer step and pause again"), Qt::Key_Period)),
      stop_(make_action(tr("Stop the run"), tr("Stop"), tr("End the run at the next step; what was done stays stored"),
                        QKeySequence("Ctrl+."))),
      edit_(make_action(tr("Edit the schedule"), tr("Edit schedule"), tr("Change what the run will do from here"),
                        QKeySequence("Ctrl+E"))),
      again_(make_action(tr("Run again"), tr("Run again"), tr("Fill the form of a new run with this one's settings"),
                         QKeySequence("Ctrl+R"))) {
  name_->setObjectName("run-name");
  figures_->setObjectName("run-figures");
  status_->setObjectName("run-status");
  pending_->setObjectName("pending-edit");
  pending_->show_text(tr("edit waits for the next step"), Pill::Tone::warning);
  pending_->hide();
  progress_->setTextVisible(false);
  progress_->setRange(0, progress_steps);
  progress_->setMinimumWidth(Theme::lines(4));
  progress_->setAccessibleName(tr("Share of the run that is done"));
  edit_button_ = bind(filled_button({}, this), edit_);
  again_button_ = bind(filled_button({}, this), again_);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(Theme::lines(0.6));
  layout->addWidget(name_);
  layout->addWidget(status_);
  layout->addWidget(pending_);
  layout->addWidget(progress_, 1);
  layout->addWidget(figures_);
  layout->addSpacing(Theme::lines(0.75));
  layout->addWidget(bind(plain_button({}, this), pause_));
  layout->addWidget(bind(plain_button({}, this), step_));
  layout->addWidget(bind(plain_button({}, this), stop_));
  layout->addWidget(edit_button_);
  layout->addWidget(again_button_);

  connect(pause_, &QAction::triggered, this, [this] {
    if (run_ && run_->paused())
      run_->resume();
    else if (run_)
      run_->pause();
  });
  connect(step_, &QAction::triggered, this, [this] {
    if (run_)
      run_->step_once();
  });
  connect(stop_, &QAction::triggered, this, [this] {
    if (run_)
      run_->stop();
  });
  connect(edit_, &QAction::triggered, this, &RunHeader::edit_wanted);
  connect(again_, &QAction::triggered, this, &RunHeader::again_wanted);
  update_state();
}

QAction* RunHeader::make_action(const QString& text, const QString& button, const QString& help,
                                const QKeySequence& key) {
  auto* action = new QAction(text, this);
  action->setIconText(button);
  action->setToolTip(help);
  action->setShortcut(key);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  return action;
}

QPushButton* RunHeader::bind(QPushButton* button, QAction* action) {
  const auto take = [button, action] {
    button->setText(action->iconText());
    button->setEnabled(action->isEnabled());
    button->setToolTip(
        QString("%1 (%2)").arg(action->toolTip(), action->shortcut().toString(QKeySequence::NativeText)));
  };
  take();
  connect(action, &QAction::changed, button, take);
  connect(button, &QPushButton::clicked, action, &QAction::trigger);
  return button;
}

QList<QAction*> RunHeader::run_actions() const {
  return {pause_, step_, stop_, edit_, again_};
}

void RunHeader::show_run(OpenRun* run) {
  if (run_)
    disconnect(run_, nullptr, this, nullptr);
  run_ = run;
  if (run != nullptr) {
    connect(run, &OpenRun::described, this, &RunHeader::update_state);
    connect(run, &OpenRun::status_changed, this, &RunHeader::update_state);
    connect(run, &OpenRun::plan_changed, this, &RunHeader::update_state);
  }
  figures_->setMinimumWidth(0);
  update_state();
}

void RunHeader::update_state() {
  const bool running = run_ && run_->running();
  const bool loading = run_ && run_->status() == "loading";
  pause_->setEnabled(running);
  pause_->setText(running && run_->paused() ? tr("Continue the run") : tr("Pause the run"));
  pause_->setIconText(running && run_->paused() ? tr("Continue") : tr("Pause"));
  step_->setEnabled(running && run_->paused());
  stop_->setEnabled(running);
  edit_->setEnabled(running);
  again_->setEnabled(run_ && !running && !loading && run_->start());
  edit_button_->setVisible(!again_->isEnabled());
  again_button_->setVisible(again_->isEnabled());
  if (run_)
    status_->show_text(word_of(run_->status()), tone_of(run_->status()));
  pending_->setVisible(running && run_->pending_edit().has_value());
  progress_->setVisible(running || loading);
  update_name();
  update_figures();
}

void RunHeader::update_name() {
  const QString name = run_ ? run_->name() : QString();
  const int room = std::max(Theme::lines(8), width() / 3);
  name_->setText(name_->fontMetrics().elidedText(name, Qt::ElideRight, room));
  name_->setToolTip(name);
}

void RunHeader::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  update_name();
}

double RunHeader::share_done() const {
  const auto& length = run_->spec().length;
  if (const auto steps = run_->expected_steps())
    return static_cast<double>(run_->steps()) / static_cast<double>(*steps);
  if (const auto epoch = newest(*run_, "epoch"); length.epochs && epoch)
    return *epoch / static_cast<double>(*length.epochs);
  if (const auto seen = newest(*run_, "examples_seen"); length.examples && seen)
    return *seen / static_cast<double>(*length.examples);
  return -1;
}

QString RunHeader::progress_text() const {
  if (run_->status() == "loading")
    return tr("%1 steps read").arg(format_count(run_->steps()));
  QStringList parts;
  const auto expected = run_->expected_steps();
  parts += expected ? tr("step %1 of %2").arg(format_count(run_->steps()), format_count(*expected))
                    : tr("step %1").arg(format_count(run_->steps()));
  if (const auto epoch = newest(*run_, "epoch"))
    parts += tr("epoch %1").arg(QLocale().toString(*epoch, 'f', 2));
  if (const double rate = run_->examples_per_second(); rate > 0)
    parts += tr("%1 examples/s").arg(format_count(std::llround(rate)));
  const QString elapsed = format_duration(run_->elapsed_seconds());
  const auto left = run_->seconds_left();
  parts += left ? tr("%1 + %2 left").arg(elapsed, format_duration(*left)) : elapsed;
  return parts.join(QString::fromUtf8(" \u00b7 "));
}

void RunHeader::update_figures() {
  if (!run_) {
    figures_->clear();
    return;
  }
  const double share = share_done();
  const bool known = share >= 0 && run_->status() != "loading";
  const int maximum = known ? progress_steps : 0; // 0: moves without saying how far
  if (progress_->maximum() != maximum)
    progress_->setMaximum(maximum);
  if (known)
    progress_->setValue(std::clamp(static_cast<int>(share * progress_steps), 0, progress_steps));
  const QString text = progress_text();
  if (text == figures_->text())
    return;
  figures_->setText(text);
  // Grows, and does not shrink again with every digit.
  figures_->setMinimumWidth(std::max(figures_->minimumWidth(), figures_->sizeHint().width()));
}

} // namespace batchscope::ui
