#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exchange/export.h"
#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/demo.h"

namespace batchscope::cli {

namespace {

namespace fs = std::filesystem;

std::int64_t oom_probes(const search::SearchResult& result) {
  return std::count_if(result.probes.begin(), result.probes.end(),
                       [](const search::Probe& probe) { return probe.outcome == search::Outcome::out_of_memory; });
}

/// Tells people of the stages and their answers; all else as for any run.
class DemoDisplay : public sweep::DemoWatch {
public:
  explicit DemoDisplay(Display& display) : palette_(Palette::for_stderr()), display_(display) {}

  void stage(sweep::DemoStage stage) override {
    if (stage == sweep::DemoStage::search || stage == sweep::DemoStage::bisection)
      display_.begin_search();
    display_.say('\n' + palette_.paint(Colour::accent, heading(stage)));
  }
  void searched(sweep::DemoStage stage, const search::SearchResult& result) override {
    if (stage == sweep::DemoStage::search) {
      runs_ = result.probes.size();
      ooms_ = oom_probes(result);
      display_.say(fmt::format("{} {}, safe {}, recommended for speed {}: {}",
                               search::name_of_largest(result.largest_is_exact), count_or_dash(result.largest),
                               count_or_dash(result.safe), count_or_dash(result.recommended), result.reason));
      return;
    }
    display_.say(
        fmt::format("largest {}: bisection used {} probes with {} out-of-memory errors; prediction used {} with {}",
                    count_or_dash(result.largest), result.probes.size(), oom_probes(result), runs_, ooms_));
  }

  void combination(std::size_t index, std::size_t count, const run::RunSpec& spec) override {
    display_.combination(index, count, spec);
  }
  void refused(std::int64_t id, const std::string& reason) override { display_.refused(id, reason); }
  void probe(const search::Probe& probe, std::uint64_t budget_bytes) override { display_.probe(probe, budget_bytes); }
  void timing(const search::Timing& timing) override { display_.timing(timing); }
  void started(const job::StartedRun& run) override { display_.started(run); }
  void record(const telemetry::StepRecord& record) override { display_.record(record); }
  void event(telemetry::Event event) override { display_.event(std::move(event)); }
  void not_stored(const std::string& why) override { display_.not_stored(why); }
  void files_replaced(const std::string& what) override { display_.files_replaced(what); }
  void ended(std::int64_t id, const telemetry::RunOutcome& outcome) override { display_.ended(id, outcome); }

private:
  static std::string heading(sweep::DemoStage stage) {
    switch (stage) {
    case sweep::DemoStage::search:
      return fmt::format("Which batch size fits in {}? A prediction from a dry run, and two trials that verify it",
                         format_bytes(*sweep::demo_spec().memory_budget));
    case sweep::DemoStage::bisection:
      return "The same answer by bisection, which needs out-of-memory errors to find it";
    case sweep::DemoStage::sweep:
      return "Memory, throughput and accuracy of each size: a sweep with three seeds";
    case sweep::DemoStage::growing:
      return "A schedule: one more example every 5 steps";
    case sweep::DemoStage::greedy:
      break;
    }
    return "A schedule that asks for more than fits: the same examples run as smaller micro batches";
  }

  Palette palette_;
  Display& display_;
  std::size_t runs_ = 0; ///< of the predictive search
  std::int64_t ooms_ = 0;
};

/// Those of the runs that were not deleted meanwhile.
std::vector<std::string> write_files(const store::RunReader& reader, const std::vector<std::int64_t>& all,
                                     const fs::path& folder) {
  std::vector<std::int64_t> runs;
  for (const auto& row : reader.present(all))
    runs.push_back(row.id);
  if (runs.empty())
    return {};
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw input_error(fmt::format("-o: cannot create {}: {}", folder.string(), problem.message()));
  std::vector<std::string> files;
  for (const char* format : {"csv", "json"}) {
    files.push_back((folder / (std::string("runs.") + format)).string());
    exchange::export_to_file(reader, runs, format, files.back(), true);
  }
  return files;
}

void print_result(const store::RunReader& reader, const sweep::DemoResult& result,
                  const std::vector<std::string>& files, const Context& context) {
  const compare::Answer answer = sweep::answer_of(reader, result);
  if (context.json) {
    print_json({{"search", result.search_id ? Json(*result.search_id) : Json(nullptr)},
                {"sweep", result.sweep_id},
                {"runs", result.runs()},
                {"largest", result.search.largest ? Json(*result.search.largest) : Json(nullptr)},
                {"recommended", answer.batch ? Json(*answer.batch) : Json(nullptr)},
                {"reason", answer.text},
                {"files", files}});
    return;
  }
  print('\n' + runs_table(reader.present(result.runs()), Palette::for_stdout()) + '\n');
  print(Palette::for_stdout().paint(Colour::good, answer.text) + '\n');
  print(answer.basis +
        (result.search.recommended && result.search.recommended != answer.batch
             ? fmt::format(" For speed alone, the search recommended {}.", format_count(*result.search.recommended))
             : std::string()) +
        "\n\n");
  for (const auto& file : files)
    print(fmt::format("written: {}\n", file));
  print(fmt::format("stored:  {} (batchscope-cli list)\n", context.database().string()));
}

int run_demo(const CLI::Option* output, const Context& context) {
  const fs::path folder = text_of(output).value_or("batchscope-demo");
  refuse_unusable(context.database());
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  sweep::DemoResult result;
  {
    Display display(context);
    DemoDisplay watch(display);
    store::RunStore store(context.database());
    result = sweep::run_demo(store, watch, control);
  }
  if (result.stopped)
    return exit_status::interrupted;
  if (!result.search.found)
    throw Error(Error::Kind::failed, "no batch size was found: " + result.search.reason);
  const store::RunReader reader(context.database());
  print_result(reader, result, write_files(reader, result.runs(), folder), context);
  return result.sweep.finished > 0 ? exit_status::done : exit_status::job_failed;
}

} // namespace

Verb add_demo(CLI::App& program) {
  auto* app = program.add_subcommand("demo", "Run a demo on the bundled images: search, sweep, recover from an "
                                             "out-of-memory error, compare");
  auto* output =
      add_value(*app, "-o,--output", "FOLDER", "Folder for the CSV and JSON files (default batchscope-demo)");
  return {app, [output](const Context& context) { return run_demo(output, context); }};
}

} // namespace batchscope::cli
