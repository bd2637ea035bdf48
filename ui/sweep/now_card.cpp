#include "ui/sweep/now_card.h"

#include <QProgressBar>
#include <QVBoxLayout>

#include <cmath>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr int bar_steps = 1000;

QString last_value(const OpenRun& run, const char* name) {
  const auto* series = run.history()->find(name);
  return series == nullptr || series->values.size() == 0 ? QStringLiteral("–") : format_number(series->values.back());
}

} // namespace

NowCard::NowCard(RunDatabase& run_database, QWidget* parent)
    : Card({}, parent), run_database_(run_database), progress_(new QProgressBar(this)), facts_(new FactList(this)) {
  setObjectName(QStringLiteral("now"));
  progress_->setTextVisible(false);
  progress_->setRange(0, bar_steps);
  progress_->setAccessibleName(tr("Progress of the run"));
  body()->addWidget(progress_);
  body()->addWidget(facts_);
  hide();
}

void NowCard::show_sweep(const SweepView& view) {
  const auto training = view.training();
  if (!training) {
    run_.reset();
    hide();
    return;
  }
  const std::int64_t id = *view.runs[*training].run;
  set_title(tr("Now: %1").arg(entry_name(*view.content, view.content->entries[*training])));
  if (!run_ || run_->id() != id) {
    run_ = std::make_unique<OpenRun>(id, run_database_, nullptr);
    connect(run_.get(), &OpenRun::grew, this, &NowCard::show_run);
    connect(run_.get(), &OpenRun::status_changed, this, [this] {
      show_run();
      Q_EMIT status_changed();
    });
  }
  show_run();
  show();
}

void NowCard::show_run() {
  progress_->setValue(static_cast<int>(run_->progress().value_or(0) * bar_steps));
  const auto steps = run_->expected_steps();
  const QString step =
      steps ? tr("%1 of %2").arg(format_count(run_->steps()), format_count(*steps)) : format_count(run_->steps());
  const auto* peak = run_->history()->find("peak_bytes");
  QList<FactList::Fact> facts{{.name = tr("step"), .value = step},
                              {.name = tr("loss"), .value = last_value(*run_, "loss")}};
  if (const auto all = peak != nullptr ? peak->values.extremes(0, peak->values.size()) : series::Extremes();
      all.finite > 0)
    facts << FactList::Fact{.name = tr("peak"), .value = format_bytes(all.max)};
  if (const auto left = run_->seconds_left())
    facts << FactList::Fact{.name = tr("left in this run"), .value = format_clock(*left)};
  facts_->set_facts(facts);
}

} // namespace batchscope::ui

#include "moc_now_card.cpp"
