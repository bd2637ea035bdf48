#include "ui/live/oom_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/texts/memory_uses.h"
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

QString done_text(const OomDetails& details) {
  const QString before = format_parts(details.parts_before, details.attempted).toHtmlEscaped();
  switch (details.end) {
  case OomDetails::End::run_in_parts:
    return OomCard::tr("same %3 examples retried as <b>%1</b> instead of <b>%2</b>")
        .arg(format_parts(details.parts_after, details.size_after).toHtmlEscaped(), before,
             format_count(details.examples_again));
  case OomDetails::End::evaluation_shrunk:
    return OomCard::tr("evaluation continues with batches of <b>%1</b> instead of <b>%2</b>")
        .arg(format_count(details.size_after), format_count(details.attempted));
  case OomDetails::End::run_failed:
    break;
  }
  return details.action.toHtmlEscaped();
}

QString cause_text(const OomDetails& details) {
  return details.end == OomDetails::End::evaluation_shrunk ? OomCard::tr("the evaluation batch was too large")
                                                           : details.cause;
}

/// What stayed the same, if anything did.
QString kept_text(OomDetails::End end) {
  switch (end) {
  case OomDetails::End::run_in_parts:
    return OomCard::tr("no example lost, learning rate unchanged");
  case OomDetails::End::evaluation_shrunk:
    return OomCard::tr("training is not affected");
  case OomDetails::End::run_failed:
    break;
  }
  return {};
}

} // namespace

OomCard::OomCard(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), card_(new Card({}, this)), facts_(new FactList(card_)),
      filled_title_(dimmed_label(tr("Memory use (MB)"), card_)), parts_(new PartsBar(theme, card_)),
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
      show_event(*shown_, whole_process_);
  });
}

void OomCard::show_event(const OomDetails& details, bool whole_process) {
  shown_ = details;
  whole_process_ = whole_process;
  card_->set_title(details.end == OomDetails::End::evaluation_shrunk
                       ? tr("Out of memory in evaluation, step %1").arg(format_count(details.step))
                       : tr("Out of memory at step %1").arg(format_count(details.step)));
  const auto bytes = [](std::uint64_t count) { return format_bytes(static_cast<double>(count)); };
  QList<FactList::Fact> facts;
  for (const auto& [name, count] : {std::pair(tr("requested"), details.requested_bytes),
                                    {whole_process ? tr("in use, with libraries") : tr("in use"), details.in_use_bytes},
                                    {tr("budget"), details.limit_bytes}})
    if (count > 0) // a program may not know it
      facts += {.name = name, .value = bytes(count)};
  if (details.short_by() > 0 && !whole_process)
    facts += {.name = tr("short by"), .value = bytes(details.short_by()), .alarming = true};
  facts_->set_facts(facts);
  show_memory(details);
  done_->setText(done_text(details));
  cause_->setText(tr("cause: %1").arg(cause_text(details).toHtmlEscaped()));
  cause_->setVisible(!details.cause.isEmpty());
  const QString kept = kept_text(details.end);
  kept_->setText(colored(kept, theme_.color(Role::good)));
  kept_->setVisible(!kept.isEmpty());
}

void OomCard::show_memory(const OomDetails& details) {
  QList<StackedBar::Part> parts;
  if (details.in_use_by) {
    for (const MemoryUse& use : memory_uses(*details.in_use_by))
      parts += {.name = use.name, .bytes = static_cast<double>(use.bytes), .series = use.series};
    parts += {.name = tr("requested"), .bytes = static_cast<double>(details.requested_bytes), .missing = true};
    parts_->set_parts(parts, static_cast<double>(details.limit_bytes));
    filled_title_->setText(tr("Memory use (%1)").arg(parts_->unit()));
  }
  filled_title_->setVisible(!parts.isEmpty());
  parts_->setVisible(!parts.isEmpty());
}

} // namespace batchscope::ui

#include "moc_oom_card.cpp"
