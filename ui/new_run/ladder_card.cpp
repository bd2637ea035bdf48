#include "ui/new_run/ladder_card.h"

#include <QGridLayout>
#include <QVBoxLayout>

#include "core/program/trial/tryout.h"
#include "ui/texts/message_text.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

struct Level {
  const char* title; ///< untranslated, as the others
  const char* works;
  const char* attached; ///< what it needs where it is attached to
  const char* alone;    ///< and where it is not
};

constexpr std::array<Level, 4> levels{{
    {QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Find and sweep"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "{batch} is in its command line"),
     QT_TRANSLATE_NOOP(
         "batchscope::ui::LadderCard",
         "Put {batch} into the command line (not needed if BatchScope attaches to its Trainer or loader)"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Put {batch} into the command line")},
    {QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Records and events as they happen"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "pause, one step, stop"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard",
                       "Works for any PyTorch training loop; elsewhere, call run.report(step=…, loss=…)"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Attach to it, or call run.report(step=…, loss=…) in each step")},
    {QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Batch size changes while it trains"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "at the very next step; schedules, dragging"),
     QT_TRANSLATE_NOOP(
         "batchscope::ui::LadderCard",
         "Works for loops over a DataLoader and for Trainers; elsewhere, loader = run.loader(DataLoader(…))"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard",
                       "Attach to it, or wrap the loader: loader = run.loader(DataLoader(…))")},
    {QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Steps that run out of memory run in parts"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "if their gradients add up to those of the whole"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard", "Works for Trainers; elsewhere, run.backward(batch, fn, model)"),
     QT_TRANSLATE_NOOP("batchscope::ui::LadderCard",
                       "Attach to a Trainer, or compute gradients with run.backward(batch, fn, model)")},
}};

} // namespace

LadderCard::LadderCard(QWidget* parent) : Card(tr("What this program can do"), parent) {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(Theme::lines(0.6));
  grid->setVerticalSpacing(0);
  grid->setColumnStretch(1, 1);
  for (std::size_t i = 0; i < rungs_.size(); ++i) {
    Rung& rung = rungs_[i];
    rung = {new QLabel(this), new QLabel(tr(levels[i].title), this), dimmed_label({}, this)};
    rung.title->setProperty("kind", QStringLiteral("heading"));
    rung.title->setWordWrap(true);
    rung.text->setWordWrap(true);
    rung.text->setTextFormat(Qt::PlainText);
    const int row = 3 * static_cast<int>(i);
    grid->addWidget(rung.mark, row, 0, Qt::AlignTop);
    grid->addWidget(rung.title, row, 1);
    grid->addWidget(rung.text, row + 1, 1);
    grid->setRowMinimumHeight(row + 2, Theme::lines(0.5));
  }
  verdict_ = dimmed_label({}, this);
  verdict_->setObjectName(QStringLiteral("verdict"));
  verdict_->setWordWrap(true);
  verdict_->setTextFormat(Qt::PlainText);
  body()->addLayout(grid);
  body()->addWidget(verdict_);
  show_program(false, true, nullptr);
}

void LadderCard::show_program(bool takes_batch, bool attach, const program::Tryout* tried) {
  const int level = tried ? tried->level() : 0;
  const bool sized = takes_batch || level >= 2;
  for (std::size_t i = 0; i < rungs_.size(); ++i) {
    const bool works = i == 0 ? sized : level >= static_cast<int>(i);
    const Level& texts = levels[i];
    if (i == 0 && sized && !takes_batch)
      show_rung(i, works, tr("the size is given to its loader"));
    else
      show_rung(i, works, tr(works ? texts.works : attach ? texts.attached : texts.alone));
  }
  verdict_->setText(tried ? verdict(attach, *tried)
                          : tr("Not tested yet. Test runs it for a few steps, finds out which of these work, and "
                               "stores nothing."));
}

void LadderCard::show_rung(std::size_t level, bool works, const QString& text) {
  const Rung& rung = rungs_[level];
  rung.mark->setText(works ? QStringLiteral("\u2713") : QStringLiteral("\u25cb"));
  rung.mark->setAccessibleName(works ? tr("works") : tr("does not work yet"));
  rung.mark->setProperty("tone", works ? QStringLiteral("good") : QString());
  rung.mark->setProperty("kind", works ? QStringLiteral("heading") : QStringLiteral("dimmed"));
  restyle(*rung.mark);
  rung.text->setText(text);
}

QString LadderCard::verdict(bool attach, const program::Tryout& tried) const {
  QStringList sentences;
  if (!tried.limited_by.empty())
    sentences.append(tr("Level %1: %2.").arg(tried.level()).arg(text_of(tried.limited_by)));
  else if (tried.level() == 3 && !tried.start->program->framework.empty() && attach)
    sentences.append(tr("Attached without a change to your code. Until you steer it, its weights are bit for bit those "
                        "of the same program without BatchScope."));
  else if (tried.status == telemetry::RunStatus::failed && tried.steps == 0 && tried.level() == 0)
    sentences.append(tr("The program failed before its first step, so it is unknown what works."));
  else if (tried.level() == 0)
    sentences.append(attach ? tr("The program reported nothing: no PyTorch training loop was found, and it does not "
                                 "call batchscope.start().")
                            : tr("The program reported nothing: BatchScope is not attached to it, and it does not call "
                                 "batchscope.start()."));
  else if (tried.level() == 2 && attach)
    sentences.append(
        tr("Watched, followed and steered; your code is unchanged. A size that is predicted not to fit is run in "
           "parts of one update if that gives the exact result, and is otherwise not used; a step that runs out "
           "of memory cannot be repeated."));
  else
    sentences.append(tried.level() == 3   ? tr("Watched, followed, steered, errors survived.")
                     : tried.level() == 2 ? tr("Watched, followed and steered; an error ends it.")
                                          : tr("Watched and followed; it is not steered."));
  for (const telemetry::Reason& remark : tried.remarks)
    sentences.append(text_of(remark) + u'.');
  return sentences.join(u' ');
}

} // namespace batchscope::ui

#include "moc_ladder_card.cpp"
