#pragma once

#include "core/compare/answer.h"
#include "ui/widgets/answer_banner.h"

namespace batchscope::ui {

/// The parts of an answer as a banner shows them; it must have a headline.
AnswerBanner::Answer banner_answer(const compare::Answer& answer);

} // namespace batchscope::ui
