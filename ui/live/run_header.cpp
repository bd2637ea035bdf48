#include "ui/live/run_header.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>

#include <algorithm>
#include <cmath>

#include "ui/texts/run_status.h"
#include "ui/theme/theme.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int progress_steps = 1000;

Pill::Tone tone_of(const QString& status) {
  switch (role_of_status(status)) {
  case Role::accent:
    return Pill::Tone::accent;
  case Role::good:
    return Pill::Tone::good;
  case Role::warning:
    return Pill::Tone::warning;
  case Role::error:
    return Pill::Tone::error;
  default:
    return Pill::Tone::neutral;
  }
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
      slack_(new QSpacerItem(0, 0, QSizePolicy::Maximum, QSizePolicy::Minimum)),
      pause_(make_command(this, tr("Pause the run"), tr("Pause or continue at the next step"), Qt::Key_Space)),
      step_(make_command(this, tr("Run one step"), tr("Run one optimizer step, then pause again"), Qt::Key_Period)),
      stop_(make_command(this, tr("Stop the run"), tr("End the run at the next step; all steps so far stay saved"),
                         QKeySequence("Ctrl+."))),
      edit_(make_command(this, tr("Edit the schedule"), tr("Change the schedule of the remaining steps"),
                         QKeySequence("Ctrl+E"))),
      again_(make_command(this, tr("Train again with changes"),
                          tr("Fill the New run form with the settings of this run"), QKeySequence("Ctrl+R"))) {
  name_->setObjectName("run-name");
  figures_->setObjectName("run-figures");
  for (QLabel* label : {name_, figures_})
    label->setMinimumWidth(1); // texts must fit the window, not enlarge it
  status_->setObjectName("run-status");
  pending_->setObjectName("pending-edit");
  pending_->show_text(tr("edit pending"), Pill::Tone::warning);
  pending_->hide();
  progress_->setTextVisible(false);
  progress_->setRange(0, progress_steps);
  progress_->setMinimumWidth(Theme::lines(4));
  progress_->setAccessibleName(tr("Progress of the run"));
  step_->setIconText(tr("Step"));
  stop_->setIconText(tr("Stop run"));
  edit_->setIconText(tr("Edit schedule"));
  again_->setIconText(tr("Train again"));
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
  layout->addSpacerItem(slack_);
  layout->addStretch(0);
  layout->addSpacing(Theme::lines(0.75));
  layout->addWidget(bind(plain_button({}, this), pause_));
  layout->addWidget(bind(plain_button({}, this), step_));
  layout->addWidget(bind(plain_button({}, this), stop_));
  layout->addWidget(edit_button_);
  layout->addWidget(again_button_);
  connect_actions();
  update_state();
}

void RunHeader::connect_actions() {
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
  update_state();
}

void RunHeader::update_state() {
  const bool running = run_ && run_->running();
  const bool loading = run_ && run_->status() == "loading";
  const QString none = run_ ? tr("The run has ended") : tr("No run is open");
  allow(*pause_, running, none);
  pause_->setText(running && run_->paused() ? tr("Continue the run") : tr("Pause the run"));
  pause_->setIconText(running && run_->paused() ? tr("Continue") : tr("Pause"));
  const bool counts = !run_ || !run_->spec() || run_->reports_steps();
  allow(*step_, running && run_->paused() && counts,
        !running ? none
        : counts ? tr("Pause the run first")
                 : tr("This program does not report its steps (level 0)"));
  allow(*stop_, running, none);
  const bool foreign = run_ && !loading && !run_->spec();
  const QString unknown = tr("The settings of this run are not known");
  const QString fixed = run_ ? run_->not_steerable() : QString();
  allow(*edit_, running && !foreign && fixed.isEmpty(), foreign ? unknown : running ? fixed : none);
  allow(*again_, run_ && !running && !loading && !foreign && run_->start(),
        foreign ? unknown
        : run_  ? tr("The run has not ended yet")
                : none);
  edit_button_->setVisible(!again_->isEnabled());
  again_button_->setVisible(again_->isEnabled());
  if (run_)
    status_->show_text(status_text(run_->status()), tone_of(run_->status()));
  pending_->setVisible(running && run_->has_pending());
  progress_->setVisible(running || loading);
  reserved_ = 0;
  update_figures();
}

void RunHeader::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  reserved_ = 0;
  fit_figures();
}

QList<RunHeader::Part> RunHeader::progress_parts() const {
  if (run_->status() == "loading")
    return {{tr("%1 steps loaded").arg(format_count(run_->steps())), 0}};
  QList<Part> parts;
  const auto expected = run_->expected_steps();
  const bool silent = run_->spec() && !run_->reports_steps() && run_->steps() == 0;
  parts += {silent     ? tr("reports no steps")
            : expected ? tr("step %1 of %2").arg(format_count(run_->steps()), format_count(*expected))
                       : tr("step %1").arg(format_count(run_->steps())),
            0};
  if (const auto epoch = newest(*run_, "epoch"); epoch && run_->tells("epoch"))
    parts += {tr("epoch %1").arg(QLocale().toString(*epoch, 'f', 2)), 3};
  if (const double rate = run_->examples_per_second(); rate > 0)
    parts += {tr("%1 examples/s").arg(format_count(std::llround(rate))), 2};
  const double seconds = run_->seconds();
  parts +=
      {run_->running() ? tr("%1 elapsed").arg(format_clock(seconds)) : tr("took %1").arg(format_duration(seconds)), 4};
  if (const auto left = run_->seconds_left())
    parts += {tr("%1 left").arg(format_clock(*left)), 1};
  return parts;
}

void RunHeader::update_figures() {
  if (!run_) {
    figures_->clear();
    return;
  }
  const auto fraction = run_->progress();
  const bool known = fraction && run_->status() != "loading";
  const int maximum = known ? progress_steps : 0; // 0: a busy indicator
  if (progress_->maximum() != maximum)
    progress_->setMaximum(maximum);
  if (known)
    progress_->setValue(static_cast<int>(*fraction * progress_steps));
  fit_figures();
}

QString RunHeader::joined(const QList<Part>& parts) {
  QStringList texts;
  for (const Part& part : parts)
    texts += part.text;
  return texts.join(QString::fromUtf8(" \u00b7 "));
}

/// Shows the name and as many of the figures as fit; tooltips have the others.
void RunHeader::fit_figures() {
  const QString name = run_ ? run_->name() : QString();
  const int name_room = std::max(Theme::lines(6), width() / 4);
  const QString short_name = fitted_text(name, name_->fontMetrics(), name_room, Qt::ElideMiddle);
  if (short_name != name_->text()) {
    name_->setText(short_name);
    name_->setToolTip(name);
  }
  if (!run_)
    return;
  int room = width() - name_->sizeHint().width() - layout()->spacing(); // for what precedes the figures
  for (int i = 0; i < layout()->count(); ++i) {
    QLayoutItem* item = layout()->itemAt(i);
    if (item->widget() == name_ || item->widget() == figures_ || item == slack_)
      continue;
    if (item->spacerItem() != nullptr)
      room -= item->minimumSize().width(); // laid out without spacing
    else if (!item->isEmpty())
      room -= item->minimumSize().width() + layout()->spacing();
  }
  QList<Part> parts = progress_parts();
  const QString all = joined(parts);
  const auto less_telling = [](const Part& a, const Part& b) { return a.rank < b.rank; };
  while (parts.size() > 1 && figures_->fontMetrics().horizontalAdvance(joined(parts)) > room)
    parts.erase(std::max_element(parts.begin(), parts.end(), less_telling));
  if (const QString text = joined(parts); text != figures_->text()) {
    figures_->setText(text);
    figures_->setToolTip(all);
  }
  // Grows, but does not shrink again with every digit; limited so that the texts are not squeezed.
  const int needed = figures_->sizeHint().width();
  reserved_ = std::clamp(reserved_, needed, std::max(needed, room));
  if (const int slack = reserved_ - needed; slack != slack_->sizeHint().width()) {
    slack_->changeSize(slack, 0, QSizePolicy::Maximum, QSizePolicy::Minimum);
    layout()->invalidate();
  }
}

} // namespace batchscope::ui

#include "moc_run_header.cpp"
