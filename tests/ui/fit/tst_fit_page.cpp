#include "ui/fit/fit_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>

#include "tests/ui/workbench_test.h"
#include "ui/fit/text_form.h"
#include "ui/fit/transformer_form.h"
#include "ui/memory/fit_card.h"
#include "ui/widgets/choice_row.h"
#include "ui/widgets/labelled_edit.h"

#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What fits on a GPU that is not here.
class TestFitPage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    here_ = std::make_unique<WorkbenchHere>();
    page_ = std::make_unique<FitPage>(**here_);
    page_->restore(
        {{"transformer",
          QJsonObject{{"layers", "2"}, {"width", "128"}, {"heads", "4"}, {"vocabulary", "1000"}, {"sequence", "64"}}}});
    page_->resize(1200, 900);
    page_->show();
  }
  void cleanup() {
    page_.reset();
    here_.reset();
  }

  void numbersAreAnsweredByTheTrainerItself() {
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains("fits on rtx-4090"), qPrintable(said()), 60'000);
    QVERIFY2(said().contains("Steps of the trainer") || said().contains("Computed for the CPU instead"),
             qPrintable(said()));
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains("activation checkpointing"), qPrintable(said()), 120'000);
    type("Batch size", "1000000");
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains("Batch size 1,000,000 does not fit on rtx-4090"), qPrintable(said()),
                              60'000);
  }

  void whatTheTrainerCannotDoIsAFormula() {
    form().restore({{"lora", "16"}, {"layers", "32"}, {"width", "4096"}, {"heads", "32"}, {"precision", "4bit"}});
    type("Batch size", "1");
    QTRY_VERIFY2(said().contains("fits on rtx-4090"), qPrintable(said()));
    QVERIFY2(said().contains("By formula"), qPrintable(said()));
    type("LoRA rank", "0");
    QTRY_VERIFY2(said().contains("Quantized weights cannot be trained"), qPrintable(said()));
  }

  void aConfigFillsTheNumbers() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("config.json");
    write(file, R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8,
                    "num_key_value_heads": 2, "intermediate_size": 512, "vocab_size": 2000,
                    "max_position_embeddings": 1024, "tie_word_embeddings": true})");
    form().read_config(file);
    QTRY_VERIFY2(said().contains("llama, 1,627,392 parameters, from config.json"), qPrintable(said()));
    QCOMPARE(text("Width"), QString("256"));
    FitPage other(**here_);
    other.restore(page_->state());
    QCOMPARE(other.state(), page_->state()); // it is still that model
    type("Width", "128");
    QTRY_VERIFY2(!said().contains("from config.json"), qPrintable(said()));
    write(file, "{\"model_type\": \"mamba\"}");
    form().read_config(file);
    QTRY_VERIFY2(said().contains("config.json") && said().contains("mamba"), qPrintable(said()));
    QCOMPARE(text("Width"), QString("128"));
  }

  void wrongNumbersAreSaidAtTheirFields() {
    for (const char* wrong : {"", "0", "-3", "many", "1e99"}) {
      type("Layers", wrong);
      QTRY_VERIFY2(said().contains("A whole number of 1 or more"), qPrintable(said()));
      QVERIFY2(said().contains("Correct the marked fields"), qPrintable(said()));
    }
    type("Layers", "12");
    type("Heads", "7");
    QTRY_VERIFY2(said().contains("heads"), qPrintable(said()));
  }

  void networksAndProgramsHaveFormsOfTheirOwn() {
    page_->restore({{"subject", "network"},
                    {"network", QJsonObject{{"data", "synthetic:examples=1000,shape=3x32x32,classes=10"}}}});
    QTRY_VERIFY2_WITH_TIMEOUT(said().contains("fits on rtx-4090") || said().contains("does not fit"),
                              qPrintable(said()), 120'000);
    type("Network", "resnet:width=many");
    QTRY_VERIFY2(said().contains("many"), qPrintable(said()));
    subject().choose("program");
    QTRY_VERIFY2(said().contains("Runs the program on a pretended GPU"), qPrintable(said()));
  }

  void whatWasTypedIsKept() {
    subject().choose("program");
    type("Command", "python3 other.py {batch}");
    const QJsonObject state = page_->state();
    FitPage other(**here_);
    other.restore(state);
    QCOMPARE(other.state(), state);
    other.restore({{"subject", "nothing"}, {"card", 3}, {"transformer", "x"}});
    QCOMPARE(other.state(), state);
  }

private:
  static void write(const QString& file, const QByteArray& text) {
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(text);
  }
  TransformerForm& form() { return *page_->findChild<TransformerForm*>(); }
  ChoiceRow& subject() { return *page_->findChild<ChoiceRow*>(); }
  LabelledEdit* edit(const QString& name) {
    for (auto* edit : page_->findChildren<LabelledEdit*>())
      for (const QLabel* label : edit->findChildren<QLabel*>())
        if (label->text() == name && edit->isVisible())
          return edit;
    return nullptr;
  }
  QString text(const QString& name) { return edit(name)->text(); }
  void type(const QString& name, const QString& typed) {
    QLineEdit* line = edit(name)->edit();
    line->selectAll();
    QTest::keyClick(line, Qt::Key_Delete);
    QTest::keyClicks(line, typed);
  }
  QString said() {
    QStringList texts;
    for (const QLabel* label : page_->findChildren<QLabel*>())
      if (label->isVisible())
        texts << label->text();
    return texts.join('\n');
  }

  std::unique_ptr<WorkbenchHere> here_;
  std::unique_ptr<FitPage> page_;
};

BATCHSCOPE_TEST(TestFitPage)

#include "tst_fit_page.moc"
