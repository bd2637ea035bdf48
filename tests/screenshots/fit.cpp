#include "tests/screenshots/fit.h"

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>

#include "ui/fit/fit_page.h"
#include "ui/memory/fit_card.h"

namespace batchscope::ui::pictures {

namespace {

constexpr const char* train_py = R"(import sys
import training
training.loop("hf_gpt2", sys.argv[2], 1000000, "cuda:0")
)";

/// Whether the card has said its last word about what would save memory.
bool is_answered(FitCard& card, int savings) {
  return card.findChild<QWidget*>("fit-savings")->findChildren<QLabel*>().size() >= savings;
}

/// In a folder of its own, as somebody would have it.
void take_program_page(Workbench& bench, Photographer& photographer, const QString& folder, const QString& python) {
  QFile file(folder + "/train.py");
  if (!file.open(QIODevice::WriteOnly) || file.write(train_py) < 0)
    fail("the program cannot be written");
  file.close();
  QFile::copy(BATCHSCOPE_SOURCE_DIR "/tests/gpu/training.py", folder + "/training.py");
  QFile interpreter(folder + "/python");
  if (!interpreter.open(QIODevice::WriteOnly))
    fail("the program cannot be written");
  interpreter.write(QString("#!/bin/sh\nexec '%1' \"$@\"\n").arg(python).toUtf8());
  interpreter.setPermissions(interpreter.permissions() | QFile::ExeOwner);
  interpreter.close();
  QDir::setCurrent(folder);
  qputenv("PATH", (folder + ':').toUtf8() + qgetenv("PATH"));
  static_cast<FitPage*>(photographer.page("fit"))
      ->restore({{"subject", "program"},
                 {"card", "rtx-4090"},
                 {"program", QJsonObject{{"command", "python train.py --batch-size {batch}"}}}});
  photographer.take_sizes("fit", "fit-program-before");
  photographer.find<FitCard>("fit-program")->findChild<QPushButton*>("fit-start")->click();
  until("the sizes of a program on a card", [&] { return bench.job_queue().idle(); });
  photographer.take_sizes("fit", "fit-program");
}

} // namespace

void take_fit_page(Workbench& bench, Photographer& photographer, const QString& folder) {
  auto& page = *static_cast<FitPage*>(photographer.page("fit"));
  photographer.show("fit");
  auto* card = page.findChild<FitCard*>("fit");
  until("a transformer", [&] { return is_answered(*card, 8); });
  photographer.take_sizes("fit", "fit-transformer");
  page.restore({{"subject", "transformer"},
                {"card", "rtx-4090"},
                {"transformer", QJsonObject{{"layers", "32"},
                                            {"width", "4096"},
                                            {"heads", "32"},
                                            {"batch", "64"},
                                            {"precision", "4bit"},
                                            {"lora", "16"}}}});
  photographer.take_sizes("fit", "fit-formula");
  page.restore({{"subject", "network"}});
  until("a network", [&] { return page.findChild<QWidget*>("fit-facts")->isVisible(); });
  photographer.take_sizes("fit", "fit-network");
  if (const QString python = qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"); !python.isEmpty())
    take_program_page(bench, photographer, folder, python);
}

} // namespace batchscope::ui::pictures
