#include "ui/new_run/command_card.h"

#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

QString broken_command(const QString& command, int columns) {
  const QString next_line = QStringLiteral(" \\\n    ");
  QString text;
  qsizetype line = 0; // start of the line in `text`
  bool quoted = false;
  qsizetype begin = 0;
  const auto add = [&](const QString& option) {
    if (!text.isEmpty() && text.size() - line + option.size() + 2 > columns) {
      text += next_line;
      line = text.size() - 4;
      text += QStringView(option).mid(1); // the line's indent replaces the space
    } else {
      text += option;
    }
  };
  for (qsizetype at = 0; at < command.size(); ++at) {
    if (command[at] == u'\'')
      quoted = !quoted;
    if (quoted || !QStringView(command).mid(at).startsWith(QLatin1String(" --")))
      continue;
    add(command.mid(begin, at - begin));
    begin = at;
  }
  add(command.mid(begin));
  return text;
}

CommandCard::CommandCard(std::filesystem::path database, QWidget* copy, QWidget* parent)
    : Card({}, parent), database_(std::move(database)), text_(new QLabel(this)) {
  auto* name = dimmed_label(tr("Command line"), this);
  text_->setObjectName(QStringLiteral("command"));
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setAccessibleName(tr("Equivalent command line"));
  // The text follows the width, never the other way round.
  text_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize());
  text_->setFont(fixed);
  text_->installEventFilter(this);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  row->addWidget(name);
  row->addWidget(text_, 1);
  row->addWidget(copy);
  body()->addLayout(row);
}

void CommandCard::show_spec(const std::optional<run::RunSpec>& spec, int errors) {
  command_ = spec ? train_command(*spec, database_) : QString();
  if (spec)
    show_command();
  else
    text_->setText(errors == 1 ? tr("One field has an error.") : tr("%1 fields have errors.").arg(errors));
  text_->setProperty("tone", spec ? QString() : QStringLiteral("error"));
  restyle(*text_);
}

void CommandCard::show_hint(const QString& hint) {
  show_spec(std::nullopt, 0);
  text_->setText(hint);
  text_->setProperty("tone", QString());
  restyle(*text_);
}

void CommandCard::show_command() {
  const double column = QFontMetricsF(text_->font()).horizontalAdvance(u'x'); // not a whole number of pixels
  text_->setText(broken_command(command_, static_cast<int>(text_->width() / std::max(column, 1.0))));
}

bool CommandCard::eventFilter(QObject* watched, QEvent* event) {
  if (watched == text_ && event->type() == QEvent::Resize && !command_.isEmpty())
    show_command();
  return Card::eventFilter(watched, event);
}

} // namespace batchscope::ui

#include "moc_command_card.cpp"
