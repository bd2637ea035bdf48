#include "ui/texts/message_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include "core/base/text.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using namespace telemetry;

QString joined(const std::vector<Message>& messages, const QString& separator) {
  QStringList texts;
  for (const Message& message : messages)
    texts << text_of(message);
  return texts.join(separator);
}

struct Shown {
  QString operator()(const Count& count) const { return format_count(count.value); }
  QString operator()(const Plain& number) const { return QString::number(number.value); }
  QString operator()(const Bytes& bytes) const { return format_bytes(static_cast<double>(bytes.value)); }
  QString operator()(const Seconds& seconds) const { return format_duration(seconds.value); }
  QString operator()(const Share& share) const { return format_percent(share.value); }
  QString operator()(const Number& number) const { return format_number(number.value); }
  QString operator()(const Parts& batch) const { return format_parts(batch.parts, batch.size); }
  QString operator()(const Text& text) const {
    return QString::fromStdString(shortened(one_line(text.value), longest_text));
  }
  QString operator()(const std::vector<Message>& messages) const { return joined(messages, QStringLiteral(", ")); }

  static constexpr std::size_t longest_text = 400; ///< the table's tooltips show it whole
};

} // namespace

QString text_of(const Argument& argument) {
  return std::visit(Shown(), argument);
}

QString text_of(const Message& message) {
  const QString pattern = QCoreApplication::translate("Event", english_pattern(message.words));
  return QString::fromStdString(
      filled(pattern.toStdString(), message, [](const Argument& argument) { return text_of(argument).toStdString(); }));
}

QString text_of(const Reason& reason) {
  return text_of(message_of(reason));
}

QString text_of(const std::vector<Message>& messages) {
  return joined(messages, QStringLiteral("; "));
}

QString sentence_of(const Event& event) {
  return text_of(describe(event).sentence);
}

} // namespace batchscope::ui
