#include "ui/schedule/plan_cards.h"

#include <QListView>
#include <QStringListModel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/plot/derived_curve.h"
#include "ui/texts/message_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr int max_events_shown = 6; ///< scrolls if there are more

std::optional<series::Extremes> sizes_of(const schedule::Plan& plan) {
  const series::Series* sizes = plan.history->find("batch");
  if (sizes == nullptr || sizes->values.size() == 0)
    return std::nullopt;
  return sizes->values.extremes(0, sizes->values.size());
}

std::int64_t last_size(const schedule::Plan& plan) {
  const series::Series* sizes = plan.history->find("batch");
  return sizes == nullptr || sizes->values.size() == 0 ? 0 : std::llround(sizes->values.back());
}

/// Highest peak of the plan as it will be split. A batch that is split may need less memory than a smaller one that is
/// not, so all are checked.
double highest_peak(const PlanEditor& editor) {
  const schedule::Plan& plan = *editor.plan();
  DerivedCurve peak;
  peak.follow(std::make_shared<HistoryCurve>(plan.history, "batch", series::Axis::step),
              [&editor](double size) { return static_cast<double>(editor.split(std::llround(size))->bytes); });
  const auto extent = peak.extent();
  const auto range = extent ? peak.range(extent->first, extent->second) : std::nullopt;
  return range ? range->second : 0;
}

QLabel* wrapping(QWidget* parent) {
  auto* label = dimmed_label({}, parent);
  label->setWordWrap(true);
  return label;
}

} // namespace

PlanCards::PlanCards(QWidget* parent)
    : QWidget(parent), plan_card_(new Card(tr("Plan"), this)), length_(new FactList(plan_card_)),
      feedback_(wrapping(plan_card_)), memory_card_(new Card(tr("Memory"), this)), memory_(new FactList(memory_card_)),
      prediction_text_(wrapping(memory_card_)), predict_(plain_button(tr("Predict memory"), memory_card_)),
      events_card_(new Card({}, this)), events_(new QStringListModel(this)), events_view_(new QListView(events_card_)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  plan_card_->body()->addWidget(length_);
  plan_card_->body()->addWidget(feedback_);
  feedback_->setObjectName(QStringLiteral("feedback"));
  memory_card_->body()->addWidget(memory_);
  memory_card_->body()->addWidget(prediction_text_);
  memory_card_->body()->addWidget(predict_, 0, Qt::AlignLeft);
  predict_->setObjectName(QStringLiteral("predict"));
  predict_->setToolTip(tr("Predict memory for every batch size (runs two small trials)"));
  connect(predict_, &QPushButton::clicked, this, &PlanCards::prediction_wanted);
  events_view_->setModel(events_);
  events_view_->setObjectName(QStringLiteral("clamps"));
  events_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  events_view_->setFrameShape(QFrame::NoFrame);
  events_view_->setWordWrap(true);
  events_view_->setAccessibleName(tr("Steps where the requested batch size was not used"));
  events_card_->body()->addWidget(events_view_);
  for (QWidget* card : {plan_card_, memory_card_, events_card_})
    column->addWidget(card);
  column->addStretch(1);
}

void PlanCards::show_plan(const PlanEditor& editor) {
  const auto& plan = editor.plan();
  setVisible(plan != nullptr);
  if (!plan)
    return;
  show_length(editor);
  show_memory(editor);
  show_events(*plan);
}

void PlanCards::show_length(const PlanEditor& editor) {
  const schedule::Plan& plan = *editor.plan();
  const auto sizes = sizes_of(plan);
  const bool open = plan.needs_feedback || plan.cut;
  length_->setVisible(plan.steps > 0);
  const auto least = [open](const QString& text) { return open ? tr("at least %1").arg(text) : text; };
  QList<FactList::Fact> facts;
  if (editor.has_end())
    facts << FactList::Fact{tr("steps"), least(format_count(plan.steps)), {}}
          << FactList::Fact{tr("examples"), least(format_count(plan.examples)), {}}
          << FactList::Fact{tr("epochs"), least(format_number(plan.epochs)), {}};
  if (sizes) {
    facts << FactList::Fact{tr("smallest batch"), format_count(std::llround(sizes->min)), {}}
          << FactList::Fact{tr("largest batch"), format_count(std::llround(sizes->max)), {}}
          << FactList::Fact{open ? tr("last known batch") : tr("final batch"), format_count(last_size(plan)), {}};
    const auto* rates = plan.history->find("learning_rate");
    if (rates != nullptr && rates->values.size() > 0 && editor.plans_rates())
      facts << FactList::Fact{tr("final learning rate"), format_number(rates->values.back(), 3), {}};
  }
  length_->set_facts(facts);
  QString text;
  if (plan.needs_feedback && plan.steps == 0)
    text = tr("This plan depends on values measured during the run (loss, tokens, memory or gradient noise), so it "
              "cannot be known in advance.");
  else if (plan.needs_feedback)
    text = tr("This plan depends on values measured during the run (loss, tokens, memory or gradient noise), so it "
              "cannot be known after step %1.")
               .arg(format_count(plan.steps));
  else if (!editor.has_end())
    text =
        tr("The program does not say how long it trains. The plan is drawn up to step %1, and further as it goes on.")
            .arg(format_count(plan.steps));
  else if (plan.cut)
    text = tr("The plan has about %1 steps, too many to draw, and is cut after step %2. Set a length in steps to plan "
              "only those.")
               .arg(format_number(plan.estimated_steps, 3), format_count(plan.steps));
  feedback_->setText(text);
  feedback_->setVisible(!text.isEmpty());
}

void PlanCards::show_memory(const PlanEditor& editor) {
  const auto sizes = sizes_of(*editor.plan());
  const bool known = editor.memory() && editor.limit_bytes() > 0;
  memory_->setVisible(known);
  memory_card_->set_alarming(false);
  memory_card_->set_title(known ? tr("Memory") : tr("No memory prediction"));
  if (!known)
    return;
  if (!sizes) {
    memory_->set_facts({{tr("budget"), format_bytes(static_cast<double>(editor.limit_bytes())), {}}});
    return;
  }
  const auto largest = std::llround(sizes->max);
  const predict::Split split = *editor.split(largest);
  const double whole = static_cast<double>(editor.memory()->at(largest).bytes);
  const bool in_parts = split.fits && split.micro_batches > 1;
  QList<FactList::Fact> facts{{tr("budget"), format_bytes(static_cast<double>(editor.limit_bytes())), {}},
                              {tr("predicted peak"), format_bytes(highest_peak(editor)), {}, !split.fits}};
  if (in_parts || !split.fits)
    facts << FactList::Fact{tr("%1 as one batch").arg(format_count(largest)), format_bytes(whole), {}, true};
  facts << FactList::Fact{tr("largest batch runs as"),
                          split.fits ? format_parts(split.micro_batches, split.micro_batch) : tr("does not fit"),
                          {},
                          !split.fits}
        << FactList::Fact{tr("prediction error"), tr("± %1").arg(format_percent(editor.memory()->error(), 1)), {}};
  memory_->set_facts(facts);
  memory_card_->set_alarming(!split.fits);
  memory_card_->set_title(!split.fits ? tr("Does not fit in memory")
                          : in_parts  ? tr("Fits as micro batches")
                                      : tr("Fits in memory"));
}

void PlanCards::set_prediction(const QString& text, bool offered) {
  prediction_text_->setText(text);
  prediction_text_->setVisible(!text.isEmpty());
  predict_->setVisible(offered);
}

void PlanCards::show_events(const schedule::Plan& plan) {
  QStringList texts;
  for (const schedule::ScheduleEvent& event : plan.events) {
    if (event.step >= plan.steps)
      continue; // asked for after the last step
    texts << tr("step %1: %2")
                 .arg(format_count(event.step + 1), sentence_of({.step = event.step, .body = body_of(event)}));
  }
  events_card_->setVisible(!texts.isEmpty());
  events_card_->set_title(tr("Steps with another batch than requested (%1)").arg(texts.size()));
  if (texts != events_->stringList())
    events_->setStringList(texts);
  events_view_->setFixedHeight(std::clamp(static_cast<int>(texts.size()), 1, max_events_shown) * Theme::lines(2.6));
}

} // namespace batchscope::ui

#include "moc_plan_cards.cpp"
