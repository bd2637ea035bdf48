#include "tests/screenshots/counts.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/run/run_spec.h"
#include "core/store/run_store.h"
#include "core/sweep/demo.h"
#include "ui/compare/curves_card.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui::pictures {

namespace {

constexpr std::int64_t train_examples = 8000;
constexpr std::int64_t epochs = 3;

run::RunSpec spec_of(std::int64_t number) {
  constexpr int sizes = 6;
  run::RunSpec spec = sweep::demo_spec();
  const std::int64_t batch = std::int64_t{16} << (number % sizes);
  spec.batch = {run::BatchChoice::Kind::number, batch};
  spec.learning_rate = number / sizes % 2 == 0 ? 0.001 : 0.003;
  spec.seed = static_cast<std::uint64_t>(number / (2 * sizes) + 1);
  spec.name = QString("batch %1, lr %2, seed %3").arg(batch).arg(*spec.learning_rate).arg(spec.seed).toStdString();
  return spec;
}

/// Losses that fall and scatter as those of real runs do.
void write_run(store::RunStore& store, std::int64_t number) {
  const run::RunSpec spec = spec_of(number);
  const std::int64_t batch = spec.batch.number;
  store::NewRun run;
  run.name = spec.name;
  run.spec_json = run::to_json(spec);
  run.batch = batch;
  const auto writer = store.begin(run);
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  std::normal_distribution<double> noise(0, 1);
  const double luck = 1 + 0.02 * noise(random);
  const double seconds_a_step = 0.004 + 2e-5 * static_cast<double>(batch);
  telemetry::RunProgress progress;
  telemetry::StepRecord record;
  const std::int64_t steps_an_epoch = (train_examples + batch - 1) / batch;
  for (std::int64_t step = 1; step <= epochs * steps_an_epoch; ++step) {
    const std::int64_t in_epoch = (step - 1) % steps_an_epoch + 1;
    const std::int64_t examples = in_epoch == steps_an_epoch ? train_examples - batch * (in_epoch - 1) : batch;
    record.step = step;
    record.examples_seen += examples;
    record.epoch = static_cast<double>(record.examples_seen) / train_examples;
    record.epoch_index = (step - 1) / steps_an_epoch;
    record.train_coverage = in_epoch == steps_an_epoch ? 1 : record.epoch - static_cast<double>(record.epoch_index);
    record.batch = batch;
    record.micro_batch = record.effective_batch = examples;
    record.micro_batches = record.accumulate = 1;
    const double learnt = std::pow(static_cast<double>(record.examples_seen) / 1000 + 0.3, -0.6);
    record.loss = luck * learnt * (1 + 0.5 / std::sqrt(static_cast<double>(batch)) * noise(random));
    record.learning_rate = *spec.learning_rate;
    record.grad_norm = 0.5 + learnt;
    record.seconds = seconds_a_step * static_cast<double>(step);
    record.allocated_bytes = 2'000'000;
    record.peak_bytes = 2'300'000 + examples * 470'000;
    record.reserved_bytes = record.peak_bytes + 3'000'000;
    writer->sink().record(record);
    progress.take(record);
    if (in_epoch != steps_an_epoch)
      continue;
    const double away = std::log2(static_cast<double>(batch) / 64);
    telemetry::Event evaluation{.step = step, .seconds = record.seconds};
    evaluation.body = telemetry::Evaluation{.loss = 1.1 * luck * learnt};
    evaluation.values = {{"validation_loss", 1.1 * luck * learnt},
                         {"validation_accuracy", 0.985 - 0.05 * learnt - 0.002 * away * away + 0.002 * noise(random)}};
    progress.take(evaluation);
    writer->sink().event(std::move(evaluation));
  }
  telemetry::RunOutcome outcome = progress.outcome();
  outcome.status = telemetry::RunStatus::finished;
  writer->finish(outcome);
}

} // namespace

void take_counts(Workbench& bench, Photographer& photographer, std::int64_t count) {
  {
    store::RunStore store(bench.run_database().database());
    for (std::int64_t number = 0; number < count; ++number)
      write_run(store, number);
  }
  bench.run_database().refresh();
  const auto& rows = bench.run_database().runs();
  until("the runs to be listed", [&] { return std::ssize(rows) == count; });
  const auto name = [count](const char* page) { return QString("%1-of-%2").arg(page).arg(count); };
  photographer.take_sizes("runs", name("runs"));
  QList<qint64> ids;
  for (const store::RunRow& row : rows)
    if (ids.size() < Workbench::max_opened)
      ids += row.id;
  bench.open(ids);
  until("the runs to be read", [&] {
    return std::all_of(bench.opened().begin(), bench.opened().end(),
                       [](const OpenRun* run) { return run->status() == "finished"; });
  });
  photographer.take_sizes("live", name("live"));
  bench.compare_all();
  photographer.show("compare");
  until("the runs to be compared", [&] {
    LinkedPlots& plots = photographer.page("compare")->findChild<CurvesCard*>()->plots();
    return plots.visible_range().second > 1; // not before there is a curve
  });
  photographer.take_sizes("compare", name("compare"));
  photographer.take_sizes("advice", name("advice"));
}

} // namespace batchscope::ui::pictures
