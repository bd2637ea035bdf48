#include "ui/live/oom_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include "core/telemetry/describe.h"
#include "ui/texts/memory_uses.h"
#include "ui/texts/message_text.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

QLabel* wrapped_label(QWidget* parent, const char* name) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setWordWrap(true);
  label->setTextFormat(Qt::RichText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QString colored(const QString& text, const QColor& color) {
  return QString("<span style=\"color:%1\">%2</span>").arg(color.name(), text.toHtmlEscaped());
}

using telemetry::OutOfMemory;

bool is_evaluation(const OutOfMemory& oom) {
  return oom.where == OutOfMemory::Where::evaluation;
}

QString sizes_text(const QString& pattern, const QString& after, const OutOfMemory& oom) {
  const QString before = oom.attempted_batch ? format_parts(oom.micro_batches_before.value_or(1), *oom.attempted_batch)
                                             : QStringLiteral("–");
  return pattern.arg(after.toHtmlEscaped(), before.toHtmlEscaped());
}

QString done_text(const OutOfMemory& oom) {
  const bool parts_known = oom.examples_again && oom.micro_batches_after && oom.split_to;
  if (oom.outcome == OutOfMemory::Outcome::split && parts_known)
    return sizes_text(OomCard::tr("same %3 examples retried as <b>%1</b> instead of <b>%2</b>")
                          .replace("%3", format_count(*oom.examples_again)),
                      format_parts(*oom.micro_batches_after, *oom.split_to), oom);
  if (oom.outcome == OutOfMemory::Outcome::split && oom.split_to)
    return sizes_text(OomCard::tr("same examples retried in micro batches of at most <b>%1</b> instead of <b>%2</b>"),
                      format_count(*oom.split_to), oom);
  if (is_evaluation(oom) && oom.outcome == OutOfMemory::Outcome::smaller && oom.split_to)
    return sizes_text(OomCard::tr("evaluation continues with batches of <b>%1</b> instead of <b>%2</b>"),
                      format_count(*oom.split_to), oom);
  return text_of(telemetry::action_of(oom)).toHtmlEscaped();
}

QString cause_text(const OutOfMemory& oom) {
  if (const auto cause = telemetry::cause_of(oom))
    return text_of(*cause);
  return is_evaluation(oom) ? OomCard::tr("the evaluation batch was too large") : QString();
}

/// Text about the parts of the training that stayed the same, if any did.
QString kept_text(const OutOfMemory& oom) {
  switch (oom.outcome) {
  case OutOfMemory::Outcome::split:
    return OomCard::tr("no example lost, learning rate unchanged");
  case OutOfMemory::Outcome::smaller:
    return is_evaluation(oom) ? OomCard::tr("training is not affected") : QString();
  case OutOfMemory::Outcome::retried:
  case OutOfMemory::Outcome::not_survived:
    break;
  }
  return {};
}

/// Missing bytes; 0 if the limit alone does not explain the error (a fragmented device), or counts something else.
std::uint64_t short_by(const OutOfMemory& oom) {
  const std::uint64_t wanted = oom.in_use_bytes.value_or(0) + oom.requested_bytes.value_or(0);
  const std::uint64_t limit = oom.limit_bytes.value_or(0);
  return oom.counts == OutOfMemory::Counts::budget && limit > 0 && wanted > limit ? wanted - limit : 0;
}

} // namespace

OomCard::OomCard(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), card_(new Card({}, this)), facts_(new FactList(card_)),
      filled_title_(dimmed_label(tr("Memory use"), card_)), parts_(new PartsBar(theme, card_)),
      done_(wrapped_label(card_, "oom-done")), cause_(wrapped_label(card_, "oom-cause")),
      kept_(wrapped_label(card_, "oom-kept")) {
  card_->set_alarming(true);
  card_->setObjectName("oom-card");
  facts_->setObjectName("oom-facts");
  QVBoxLayout* body = card_->body();
  body->addWidget(facts_);
  body->addWidget(filled_title_);
  body->addWidget(parts_);
  auto* done = new QVBoxLayout;
  done->setSpacing(Theme::lines(0.25));
  done->addWidget(dimmed_label(tr("Action"), card_));
  for (QLabel* label : {done_, cause_, kept_})
    done->addWidget(label);
  body->addLayout(done);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_);
  connect(&theme, &Theme::changed, this, [this] {
    if (shown_)
      show_event(step_, *shown_, whole_process_);
  });
}

void OomCard::show_event(std::int64_t step, const OutOfMemory& oom, bool whole_process) {
  step_ = step;
  shown_ = oom;
  whole_process_ = whole_process;
  card_->set_title(is_evaluation(oom) ? tr("Out of memory in evaluation, step %1").arg(format_count(step))
                                      : tr("Out of memory at step %1").arg(format_count(step)));
  show_facts(oom);
  show_memory(oom);
  done_->setText(done_text(oom));
  const QString cause = cause_text(oom);
  cause_->setText(tr("cause: %1").arg(cause.toHtmlEscaped()));
  cause_->setVisible(!cause.isEmpty());
  const QString kept = kept_text(oom);
  kept_->setText(colored(kept, theme_.color(Role::good)));
  kept_->setVisible(!kept.isEmpty());
}

void OomCard::show_facts(const OutOfMemory& oom) {
  const bool libraries =
      oom.counts == OutOfMemory::Counts::process || (oom.counts == OutOfMemory::Counts::not_known && whole_process_);
  QList<FactList::Fact> facts;
  for (const auto& [name, count] : {std::pair(tr("requested"), oom.requested_bytes),
                                    {libraries ? tr("in use, with libraries") : tr("in use"), oom.in_use_bytes},
                                    {libraries ? tr("budget, without libraries") : tr("budget"), oom.limit_bytes}})
    if (count.value_or(0) > 0) // a program may not know it
      facts += {.name = name, .value = format_bytes(static_cast<double>(*count))};
  if (short_by(oom) > 0)
    facts += {.name = tr("short by"), .value = format_bytes(static_cast<double>(short_by(oom))), .alarming = true};
  facts_->set_facts(facts);
}

void OomCard::show_memory(const OutOfMemory& oom) {
  QList<StackedBar::Part> parts;
  if (oom.in_use_by) {
    for (const MemoryUse& use : memory_uses(*oom.in_use_by))
      parts += {.name = use.name, .bytes = static_cast<double>(use.bytes), .series = use.series};
    parts += {.name = tr("requested"), .bytes = static_cast<double>(oom.requested_bytes.value_or(0)), .missing = true};
    parts_->set_parts(parts, static_cast<double>(oom.limit_bytes.value_or(0)));
  }
  filled_title_->setVisible(!parts.isEmpty());
  parts_->setVisible(!parts.isEmpty());
}

} // namespace batchscope::ui

#include "moc_oom_card.cpp"
