#include <QTest>

#include "core/estimate/savings.h"
#include "core/run/model_spec.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::estimate;

namespace {

const Transformer model{.family = {},
                        .parameters = 1e9,
                        .layers = 24,
                        .width = 2048,
                        .heads = 16,
                        .vocabulary = 32'000,
                        .positions = 2048,
                        .model = {}};

Training training() {
  return {.batch = 4, .sequence = 1024};
}

const Saving* find(const std::vector<Saving>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Saving& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

} // namespace

class TestSavings : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Each is the formula of the changed training.
  void areTheFormula() {
    constexpr double room = 80e9;
    const auto all = savings(model, training(), room, {});
    QCOMPARE(all.size(), std::size_t{5});
    Training changed = training();
    changed.checkpointing = true;
    const Saving* saving = find(all, "checkpointing");
    QVERIFY(saving != nullptr);
    QVERIFY(std::abs(saving->total_bytes - by_formula(model, changed).total()) < 10);
    QCOMPARE(saving->max_batch, max_batch(by_formula, model, changed, room));
    changed = training();
    changed.precision = Training::Precision::mixed;
    QCOMPARE(find(all, "mixed")->max_batch, max_batch(by_formula, model, changed, room));
  }

  /// A dry run of twice the activations halves what fits beside the same model.
  void followADryRun() {
    constexpr double room = 80e9;
    const Estimate formula = by_formula(model, training());
    const double per_example = formula.activations / training().batch;
    const MemoryParts same{.model = formula.total() - formula.activations, .per_example = per_example};
    const MemoryParts twice{.model = same.model, .per_example = 2 * per_example};
    const auto plain = savings(model, training(), room, {});
    const auto known = savings(model, training(), room, same);
    const auto larger = savings(model, training(), room, twice);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      QVERIFY(std::abs(known[i].total_bytes / plain[i].total_bytes - 1) < 1e-9);
      QVERIFY(std::abs(static_cast<double>(larger[i].max_batch) - static_cast<double>(plain[i].max_batch) / 2) <= 1);
    }
  }

  void leaveOutWhatIsDone() {
    Training done = training();
    done.checkpointing = true;
    done.precision = Training::Precision::int4;
    done.lora_rank = 8;
    done.optimizer = Training::Optimizer::adam8bit;
    done.sequence = 1;
    QVERIFY(savings(model, done, 1e9, {}).empty());
  }

  /// The three that a run can be trained with, each alone; none of them twice.
  void namesWhatARunCanTrain() {
    run::RunSpec spec;
    spec.model = "gpt:layers=2,heads=2,width=16,context=64";
    const auto all = trained_savings(spec);
    QCOMPARE(all.size(), std::size_t{3});
    QVERIFY(all[0].name == "checkpointing" && all[0].spec.checkpointing && all[0].spec.precision == "fp32");
    QVERIFY(all[1].name == "mixed" && !all[1].spec.checkpointing && all[1].spec.precision == "bf16");
    QCOMPARE(run::parse_model(all[2].spec.model).context(), std::int64_t{32});
    spec.checkpointing = true;
    spec.precision = "bf16";
    spec.model = "cnn";
    QVERIFY(trained_savings(spec).empty());
  }

  void noneFits() {
    for (const Saving& saving : savings(model, training(), 1e6, {}))
      QCOMPARE(saving.max_batch, std::int64_t{0});
  }
};

BATCHSCOPE_TEST(TestSavings)
#include "tst_savings.moc"
