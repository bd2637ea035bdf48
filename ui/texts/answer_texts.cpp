#include "ui/texts/answer_texts.h"

namespace batchscope::ui {

AnswerBanner::Answer banner_answer(const compare::Answer& answer) {
  using Certainty = AnswerBanner::Certainty;
  AnswerBanner::Answer shown{.headline = QString::fromStdString(answer.headline),
                             .details = QString::fromStdString(answer.details()),
                             .basis = QString::fromStdString(answer.basis),
                             .certainty = answer.certainty == compare::Certainty::sure    ? Certainty::sure
                                          : answer.certainty == compare::Certainty::close ? Certainty::close
                                                                                          : Certainty::unknown};
  shown.text = QString::fromStdString(answer.text);
  // `Batch size 64: the best validation accuracy`
  QString reason = QString::fromStdString(answer.reason()).mid(shown.headline.size());
  while (reason.startsWith(u':') || reason.startsWith(u' '))
    reason.remove(0, 1);
  shown.reason = reason.left(1).toUpper() + reason.mid(1);
  return shown;
}

} // namespace batchscope::ui
