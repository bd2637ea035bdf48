#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

#include "core/run/engine.h"
#include "test_program.h"
#include "ui/memory/memory_parts.h"
#include "ui/memory/memory_predictor.h"
#include "ui/memory/prediction_card.h"
#include "ui/theme/theme.h"

using namespace batchscope;
using namespace batchscope::ui;

namespace {

constexpr int patience_ms = 60'000;

run::RunSpec spec_of(const char* model, std::uint64_t budget = 10'000'000) {
  run::RunSpec spec;
  spec.model = model;
  spec.memory_budget = budget;
  spec.batch = {run::BatchChoice::Kind::number, 32};
  return spec;
}

/// A predictor and what it says last.
struct Watched {
  Watched() : predictor(std::make_shared<data::DataPool>()) {
    QObject::connect(&predictor, &MemoryPredictor::computed, [this](const auto& prediction) {
      last = prediction;
      ++count;
    });
    QObject::connect(&predictor, &MemoryPredictor::refused, [this](const QString& why) { error = why; });
  }
  MemoryPredictor predictor;
  std::shared_ptr<const run::MemoryPrediction> last;
  QString error;
  int count = 0;
};

} // namespace

/// The memory of a run before it starts.
class TestMemoryPredictor : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Libraries of a program may be in a prediction, but not in its budget.
  void aSizeThatWasMeasuredToFitIsNotOverTheBudget() {
    const Theme theme;
    MemoryParts parts(theme);
    predict::PeakCurve::Point point;
    point.bytes = 21'200'000;
    const auto text = [&] { return parts.findChild<QLabel*>("memory-text")->text(); };
    parts.show_peak(point, 20'000'000);
    QVERIFY2(text().contains("over the budget"), qPrintable(text()));
    parts.show_peak(point, 20'000'000, 19'300'000);
    QCOMPARE(text(), QString("21.2 MB predicted at the peak of a step, 19.3 MB measured: it fits"));
  }

  void comesAtOnceAndThenCompletely() {
    Watched watched;
    watched.predictor.request(spec_of("resnet:width=7,blocks=1"));
    QTRY_VERIFY_WITH_TIMEOUT(watched.last && watched.last->complete, patience_ms);
    QCOMPARE(watched.count, 2); // its convolutions were not known before
    const auto first = watched.last;
    QVERIFY(first->largest.has_value());
    QVERIFY(first->curve.at(*first->largest).bytes <= first->budget_bytes);
    QCOMPARE(first->examples, std::int64_t{8000});
    watched.predictor.request(spec_of("resnet:width=7,blocks=1"));
    QTRY_COMPARE_WITH_TIMEOUT(watched.count, 3, patience_ms);
    QVERIFY(watched.last->complete);
    QCOMPARE(*watched.last->largest, *first->largest);
  }

  void onlyTheNewestCounts() {
    Watched watched;
    for (int width = 2; width <= 40; ++width)
      watched.predictor.request(spec_of(qPrintable(QString("mlp:hidden=%1").arg(width))));
    QTRY_VERIFY_WITH_TIMEOUT(watched.last && watched.last->parameters == 784 * 40 + 40 + 400 + 10, patience_ms);
    QCOMPARE(watched.count, 1);
    watched.predictor.request(spec_of("mlp"));
    watched.predictor.cancel();
    watched.predictor.request(spec_of("mlp:hidden=7"));
    QTRY_COMPARE_WITH_TIMEOUT(watched.last->parameters, 784 * 7 + 7 + 70 + 10, patience_ms);
    QCOMPARE(watched.count, 2);
  }

  void saysWhyThereIsNone_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("said");
    QTest::newRow("model of other data") << "model"
                                         << "gpt"
                                         << "choose cnn";
    QTest::newRow("missing file") << "data"
                                  << "text:/nowhere.txt"
                                  << "nowhere.txt";
    QTest::newRow("GPU") << "device"
                         << "cuda:0"
                         << "cuda:0";
  }
  void saysWhyThereIsNone() {
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, said);
    Watched watched;
    run::RunSpec spec = spec_of("mlp");
    (field == "model" ? spec.model : field == "data" ? spec.data : spec.device) = value.toStdString();
    watched.predictor.request(spec);
    QTRY_VERIFY_WITH_TIMEOUT(!watched.error.isEmpty(), patience_ms);
    QVERIFY2(watched.error.contains(said), qPrintable(watched.error));
    QCOMPARE(watched.count, 0);
  }

  void aGraphicsCardCanBeChosen() {
    Watched watched;
    std::shared_ptr<const estimate::CardFit> fit;
    std::vector<estimate::Saving> savings;
    connect(&watched.predictor, &MemoryPredictor::card_computed, this, [&](const auto& computed, const auto& changes) {
      fit = computed;
      savings = changes;
    });
    run::RunSpec spec = spec_of("resnet");
    watched.predictor.request_card(spec, "rtx-3090");
    QTRY_VERIFY_WITH_TIMEOUT(fit, patience_ms);
    const Theme theme;
    PredictionCard card(theme);
    auto* targets = card.findChild<QComboBox*>("fit-into");
    QVERIFY(targets->count() > 20);
    QVERIFY(card.target().isEmpty());
    QSignalSpy changed(&card, &PredictionCard::target_changed);
    targets->setCurrentIndex(targets->findData("rtx-3090"));
    Q_EMIT targets->activated(targets->currentIndex());
    QCOMPARE(changed.count(), 1);
    QCOMPARE(card.target(), QString("rtx-3090"));
    card.show_fit(*fit, savings, spec);
    const auto labels = card.findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(),
                        [](const QLabel* label) { return label->text() == "usable GPU memory"; }));
    QVERIFY(fit->prediction.largest.has_value());
    if constexpr (!batchscope::test::sanitized) // which have no pretended GPUs
      QVERIFY2(fit->steps.has_value(), fit->not_on_card.c_str());
    if (fit->steps)
      QVERIFY(fit->steps->reserved_bytes <= fit->prediction.budget_bytes);
    QTRY_VERIFY_WITH_TIMEOUT(!savings.empty(), patience_ms);
    QCOMPARE(watched.count, 0);
    watched.predictor.request_card(spec, "rtx-9999");
    QTRY_VERIFY_WITH_TIMEOUT(watched.error.contains("rtx-9999"), patience_ms);
  }

  void whatToChangeToFit() {
    run::RunSpec spec = spec_of("gpt:layers=8,heads=8,width=512,context=512");
    spec.data = "synthetic:vocabulary=50257,examples=100000";
    data::DataPool pool;
    estimate::DryRuns dry_runs(estimate::parse_target("4GB", "--for"));
    const auto fit = estimate::fit_into(spec, dry_runs, pool);
    const auto savings = estimate::savings_of(spec, fit, dry_runs, pool);
    QVERIFY(!savings.empty());
    const Theme theme;
    PredictionCard card(theme);
    card.show_fit(fit, savings, spec);
    const auto said = [&] {
      QStringList texts;
      for (const QLabel* label : card.findChildren<QLabel*>()) {
        if (!label->isHidden())
          texts << label->text();
      }
      return texts.join('\n');
    };
    for (const estimate::Saving& saving : savings)
      QVERIFY2(said().contains(QString::fromStdString(saving.title)), qPrintable(said()));
    card.show_prediction(run::predict_memory(spec, pool), spec);
    QVERIFY(card.findChild<QLabel*>("savings")->isHidden());
  }

  void theCardSaysWhatItComesTo_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("batch"); // 0: a search chooses it
    QTest::addColumn<QString>("title");
    QTest::addColumn<QString>("remark");
    QTest::newRow("fits") << "mlp" << 32 << "Memory at batch size 32"
                          << "";
    QTest::newRow("in parts") << "cnn:width=8" << 400 << "Memory at batch size 400"
                              << "Will run as";
    QTest::newRow("not at all") << "mlp:hidden=60000" << 32 << "Memory at batch size 32"
                                << "Even one example";
    QTest::newRow("largest") << "cnn:width=8" << 0 << "Memory at batch size 80"
                             << "";
  }
  void theCardSaysWhatItComesTo() {
    QFETCH(QString, model);
    QFETCH(int, batch);
    QFETCH(QString, title);
    QFETCH(QString, remark);
    run::RunSpec spec = spec_of(qPrintable(model));
    spec.batch = batch > 0 ? run::BatchChoice{run::BatchChoice::Kind::number, batch}
                           : run::BatchChoice{run::BatchChoice::Kind::largest, 0};
    data::DataPool pool;
    const Theme theme;
    const auto says = [](const QWidget& widget, const QString& text) {
      const auto labels = widget.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == text; });
    };
    PredictionCard card(theme);
    card.show_prediction(run::predict_memory(spec, pool), spec);
    QVERIFY(says(card, title));
    const auto* said = card.findChild<QLabel*>("prediction-remark");
    QVERIFY2(said->text().startsWith(remark) || remark.isEmpty(), qPrintable(said->text()));
    QCOMPARE(said->isHidden(), remark.isEmpty());
    card.show_none("no such file");
    QVERIFY(says(card, "no such file"));
  }
};

BATCHSCOPE_TEST(TestMemoryPredictor)
#include "tst_memory_predictor.moc"
