#pragma once

#include <QString>

#include "core/telemetry/describe.h"

// Messages of core, which come without words, in the words of the window: patterns go through Qt's translation (context
// `Event`), numbers are those of ui/widgets/format.h.
namespace batchscope::ui {

QString text_of(const telemetry::Message& message);
QString text_of(const telemetry::Reason& reason);
QString text_of(const telemetry::Argument& argument);
/// Separated by semicolons.
QString text_of(const std::vector<telemetry::Message>& messages);

/// An event as one sentence, without its step.
QString sentence_of(const telemetry::Event& event);

} // namespace batchscope::ui
