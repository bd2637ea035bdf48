#include "ui/find/answer_card.h"

#include <QGridLayout>
#include <QHBoxLayout>

#include <algorithm>

#include "core/run/automatic_batch.h"
#include "core/search/throughput.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr double large_type = 1.6; // relative to the default size

QLabel* wrapping_label(QWidget* parent) {
  auto* label = dimmed_label({}, parent);
  label->setWordWrap(true);
  return label;
}

QString peak_reason(const SearchView& view, std::int64_t batch) {
  const auto peak = peak_at(view, batch);
  if (!peak)
    return {};
  const QString bytes = format_bytes(static_cast<double>(peak->bytes));
  if (above_budget(view, *peak))
    return AnswerCard::tr("measured peak %1, libraries included").arg(bytes);
  return peak->measured ? AnswerCard::tr("measured peak %1").arg(bytes)
                        : AnswerCard::tr("predicted peak %1").arg(bytes);
}

/// Whether a search is shown that was stopped before it found anything.
bool was_interrupted(const SearchView& view) {
  return view.result && view.result->interrupted;
}

/// The smallest size that ran and did not fit; nothing if all did.
std::optional<std::int64_t> smallest_refused(const SearchView& view) {
  std::optional<std::int64_t> smallest;
  for (const search::Probe& probe : view.probes)
    if (probe.outcome == search::Outcome::out_of_memory)
      smallest = std::min(smallest.value_or(probe.batch), probe.batch);
  return smallest;
}

QString tried_reason(const SearchView& view, std::int64_t batch) {
  const QString reason = peak_reason(view, batch);
  const auto refused = smallest_refused(view);
  if (refused && *refused <= batch)
    return AnswerCard::tr("%1; %2 did not fit: memory varies between steps of the same size")
        .arg(reason, format_count(*refused));
  return refused
             ? AnswerCard::tr("%1; %2 did not fit, sizes in between were not run").arg(reason, format_count(*refused))
             : AnswerCard::tr("%1; no larger size was run").arg(reason);
}

QString largest_reason(const SearchView& view, std::int64_t batch) {
  if (!view.result->largest_is_exact)
    return tried_reason(view, batch);
  const bool bounded = std::none_of(view.probes.begin(), view.probes.end(), [&](const search::Probe& probe) {
    return probe.batch > batch && probe.outcome != search::Outcome::fits;
  });
  const bool predicted_to_fit = view.memory && view.memory->at(batch + 1).bytes <= view.budget;
  const QString reason = peak_reason(view, batch);
  return bounded && predicted_to_fit
             ? AnswerCard::tr("%1; limited by the maximum batch size or the number of examples").arg(reason)
             : reason;
}

/// The text as a sentence of its own.
QString sentence(const std::string& text) {
  QString sentence = QString::fromStdString(text);
  if (!sentence.isEmpty())
    sentence[0] = sentence[0].toUpper();
  return sentence;
}

} // namespace

AnswerCard::AnswerCard(QWidget* parent) : Card(tr("Result"), parent), outcome_(new QWidget(this)) {
  body()->setSpacing(12);
  for (const Answer answer : {largest, safe, recommended, automatic}) {
    rows_[answer] = make_row(answer);
    body()->addWidget(rows_[answer].widget);
  }
  again_ = plain_button(tr("Time again"), this);
  again_->setObjectName(QStringLiteral("time-again"));
  again_->setToolTip(tr("Measure again; close other programs first for accurate timings"));
  connect(again_, &QPushButton::clicked, this, &AnswerCard::again_wanted);
  body()->addWidget(again_, 0, Qt::AlignLeft);
  evaluation_ = wrapping_label(this);
  evaluation_->setObjectName(QStringLiteral("evaluation"));
  body()->addWidget(evaluation_);
  auto* layout = new QVBoxLayout(outcome_);
  layout->setContentsMargins(0, 0, 0, 0);
  outcome_text_ = new QLabel(outcome_);
  outcome_text_->setWordWrap(true);
  outcome_text_->setObjectName(QStringLiteral("outcome"));
  outcome_help_ = wrapping_label(outcome_);
  outcome_help_->setObjectName(QStringLiteral("tried"));
  settings_ = plain_button(tr("Change search settings"), outcome_);
  connect(settings_, &QPushButton::clicked, this, &AnswerCard::settings_wanted);
  layout->addWidget(outcome_text_);
  layout->addWidget(outcome_help_);
  layout->addWidget(settings_, 0, Qt::AlignLeft);
  body()->addWidget(outcome_);
  rows_[recommended].value->setProperty("tone", QStringLiteral("good"));
}

AnswerCard::Row AnswerCard::make_row(Answer answer) {
  const QString keys[] = {QStringLiteral("largest"), QStringLiteral("safe"), QStringLiteral("recommended"),
                          QStringLiteral("automatic")};
  Row row;
  row.widget = new QWidget(this);
  row.name = new QLabel(row.widget);
  row.value = new QLabel(row.widget);
  row.value->setObjectName(keys[answer]);
  row.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont font = row.value->font();
  font.setPointSizeF(font.pointSizeF() * large_type);
  font.setWeight(QFont::DemiBold);
  row.value->setFont(figures_font(font));
  row.reason = wrapping_label(row.widget);
  row.train = plain_button({}, row.widget);
  row.train->setObjectName(QStringLiteral("train-") + keys[answer]);
  row.edit = plain_button(tr("Edit settings…"), row.widget);
  row.edit->setObjectName(QStringLiteral("edit-") + keys[answer]);
  row.edit->setToolTip(tr("Open the New run form with this batch size"));
  connect(row.train, &QPushButton::clicked, this, [this, answer] {
    if (rows_[answer].batch)
      Q_EMIT train_wanted(*rows_[answer].batch);
  });
  connect(row.edit, &QPushButton::clicked, this, [this, answer] {
    if (rows_[answer].batch)
      Q_EMIT edit_wanted(*rows_[answer].batch);
  });

  auto* grid = new QGridLayout(row.widget);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(0, 1);
  grid->addWidget(row.name, 0, 0);
  grid->addWidget(row.value, 0, 1, 2, 1, Qt::AlignRight | Qt::AlignVCenter);
  grid->addWidget(row.reason, 1, 0);
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(0, 4, 0, 0);
  buttons->setSpacing(8);
  buttons->addWidget(row.train);
  buttons->addWidget(row.edit);
  buttons->addStretch();
  grid->addLayout(buttons, 2, 0, 1, 2);
  return row;
}

void AnswerCard::fill(Answer answer, std::optional<std::int64_t> batch, const QString& reason, bool final) {
  Row& row = rows_[answer];
  row.batch = batch;
  row.value->setText(batch ? format_count(*batch) : QStringLiteral("–"));
  row.reason->setText(reason);
  for (QPushButton* button : {row.train, row.edit})
    button->setVisible(final && batch);
  if (batch)
    row.train->setText(tr("Train with %1").arg(format_count(*batch)));
}

void AnswerCard::show_answers(const SearchView& view) {
  again_->setVisible(view.found() && !search::doubt_about(view.result->timings).empty());
  const bool tried = view.found() && !view.result->largest_is_exact;
  rows_[largest].name->setText(tried ? tr("Largest tried") : tr("Largest that fits"));
  rows_[safe].name->setText(tr("Safe, %1 free").arg(format_percent(view.margin, 0)));
  rows_[recommended].name->setText(tr("Recommended for speed"));
  rows_[automatic].name->setText(tr("Automatic (at least %1 steps per epoch)").arg(run::min_steps_in_epoch));
  rows_[automatic].widget->setVisible(view.held_back().has_value());
  if (!view.found()) {
    const auto so_far = largest_so_far(view);
    fill(largest, so_far, so_far ? tr("largest so far") : tr("not known yet"), false);
    fill(safe, std::nullopt, tr("not known yet"), false);
    fill(recommended, std::nullopt, tr("not known yet"), false);
    return;
  }
  const search::SearchResult& result = *view.result;
  fill(largest, result.largest, result.largest ? largest_reason(view, *result.largest) : QString(), true);
  fill(safe, result.safe, result.safe ? peak_reason(view, *result.safe) : tr("no size leaves that much free"), true);
  fill(recommended, result.recommended,
       result.timings.empty() ? tr("throughput was not measured") : sentence(result.reason), true);
  fill(automatic, view.held_back(), tr("used by auto; the recommended size gives fewer steps per epoch"), true);
}

void AnswerCard::show_evaluation(const search::SearchResult* evaluation) {
  evaluation_->setVisible(evaluation != nullptr);
  if (!evaluation)
    return;
  const auto count = [](const auto& size) { return size ? format_count(*size) : QStringLiteral("–"); };
  evaluation_->setText(
      tr("Evaluation batch: %1 is safe, %2 the largest; %3.")
          .arg(count(evaluation->safe), count(evaluation->largest), QString::fromStdString(evaluation->reason)));
}

void AnswerCard::show_outcome(const SearchView& view) {
  const QString tried = tr("Tried: %1").arg(sequence_of(view.probes));
  switch (view.state) {
  case Job::State::failed:
    outcome_text_->setText(view.error);
    outcome_help_->setText(view.probes.empty() ? QString() : tried);
    break;
  case Job::State::cancelled: {
    const auto so_far = largest_so_far(view);
    outcome_text_->setText(
        so_far ? tr("The largest size that fit before the search was stopped: %1.").arg(format_count(*so_far))
               : tr("No size fit before the search was stopped."));
    outcome_help_->setText(view.probes.empty() ? tr("No size was run, and nothing is saved.") : tr("%1.").arg(tried));
    break;
  }
  default:
    outcome_text_->setText(view.result ? sentence(view.result->reason) : QString());
    if (was_interrupted(view)) {
      outcome_help_->setText(tr("%1.").arg(tried));
      break;
    }
    outcome_help_->setText(
        tr("%1. Raise the memory budget, or choose a smaller model or shorter examples.").arg(tried));
  }
  outcome_help_->setVisible(!outcome_help_->text().isEmpty());
  settings_->setVisible(view.state != Job::State::cancelled && !was_interrupted(view));
}

void AnswerCard::show_search(const SearchView& view) {
  const bool answers = view.working() || view.found();
  for (Row& row : rows_)
    row.widget->setVisible(answers);
  again_->setVisible(false); // see show_answers()
  show_evaluation(view.found() ? view.result->evaluation.get() : nullptr);
  outcome_->setVisible(!answers);
  set_alarming(!answers && view.state != Job::State::cancelled && !was_interrupted(view));
  if (answers) {
    set_title(view.found() ? tr("Result") : tr("Searching"));
    show_answers(view);
    return;
  }
  set_title(view.state == Job::State::failed                               ? tr("The search failed")
            : view.state == Job::State::cancelled || was_interrupted(view) ? tr("Stopped")
                                                                           : tr("Nothing fits"));
  show_outcome(view);
}

} // namespace batchscope::ui

#include "moc_answer_card.cpp"
