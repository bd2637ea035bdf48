#include "ui/new_run/client_card.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QSaveFile>
#include <QVBoxLayout>

#include "core/program/process/client.h"
#include "ui/widgets/file_dialog.h"

namespace batchscope::ui {

namespace {

const QString plain_loop = QStringLiteral("import batchscope\n"
                                          "run = batchscope.start()\n"
                                          "loader = run.loader(loader)\n"
                                          "for batch in loader:\n"
                                          "    loss = run.backward(batch, step, model)\n"
                                          "    optimizer.step()\n"
                                          "    run.step(optimizer, loss=loss)\n");

} // namespace

ClientCard::ClientCard(QWidget* parent) : Card(tr("Level 3 in a plain PyTorch loop: three lines"), parent) {
  auto* code = new QLabel(plain_loop.trimmed(), this);
  code->setTextFormat(Qt::PlainText);
  code->setProperty("kind", QStringLiteral("code"));
  code->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize() * 9 / 10);
  code->setFont(fixed);
  code->setToolTip(tr("step(inputs, targets) returns the mean loss of a micro batch; Run.backward() also zeroes the "
                      "gradients"));
  auto* copy = plain_button(tr("Copy"), this);
  auto* save = plain_button(tr("Save batchscope.py…"), this);
  save->setToolTip(tr("The file that your program imports; it needs no other package"));
  connect(copy, &QPushButton::clicked, this, &ClientCard::copy);
  connect(save, &QPushButton::clicked, this, &ClientCard::ask_to_save);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(copy);
  buttons->addWidget(save);
  buttons->addStretch();
  body()->addWidget(code);
  body()->addLayout(buttons);
}

void ClientCard::copy() {
  QGuiApplication::clipboard()->setText(plain_loop);
  Q_EMIT copied();
}

void ClientCard::ask_to_save() {
  QFileDialog* dialog = save_file_dialog(this, tr("Save the Python client"), {tr("Python files (*.py)")},
                                         QStringLiteral("batchscope.py"));
  connect(dialog, &QFileDialog::fileSelected, this, &ClientCard::save);
  dialog->open();
}

void ClientCard::save(const QString& file) {
  QSaveFile target(file);
  const std::string_view text = program::client_source();
  if (target.open(QIODevice::WriteOnly) &&
      target.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()) &&
      target.commit())
    Q_EMIT saved(file);
  else
    Q_EMIT problem(QStringLiteral("%1: %2").arg(file, target.errorString()));
}

} // namespace batchscope::ui

#include "moc_client_card.cpp"
