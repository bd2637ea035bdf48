#include "ui/new_run/command_card.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace batchscope::ui {

QString command_line(const train::RunSpec& spec) {
  return QStringLiteral("batchscope-cli train ") + QString::fromStdString(train::to_command_line(spec));
}

CommandCard::CommandCard(QWidget* parent) : Card({}, parent), text_(new QLabel(this)) {
  auto* name = dimmed_label(tr("Command line"), this);
  text_->setObjectName(QStringLiteral("command"));
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setAccessibleName(tr("The same as a command line"));
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize());
  text_->setFont(fixed);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  row->addWidget(name, 0, Qt::AlignTop);
  row->addWidget(text_, 1);
  body()->addLayout(row);
}

void CommandCard::show_spec(const std::optional<train::RunSpec>& spec, int errors) {
  command_ = spec ? command_line(*spec) : QString();
  text_->setText(spec ? command_ : errors == 1 ? tr("One field is wrong.") : tr("%1 fields are wrong.").arg(errors));
  text_->setProperty("tone", spec ? QString() : QStringLiteral("error"));
  restyle(*text_);
}

} // namespace batchscope::ui
