#include "core/job/resume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/host.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/checkpoint/folder.h"
#include "core/run/engine.h"
#include "core/store/run_reader.h"
#include "core/telemetry/english.h"

namespace batchscope::job {

namespace {

using telemetry::RunStatus;
using telemetry::Words;

/// Fraction of the free memory that is used, if the run had more than there is now.
constexpr double share_of_free_memory = 0.8;

void check_ended(const store::RunRow& row) {
  const RunStatus status = row.outcome.status;
  if (telemetry::is_open(status))
    throw input_error(fmt::format("run {} is {}; only runs that were interrupted, were stopped or failed can be "
                                  "resumed; `watch {}` follows it",
                                  row.id, telemetry::to_string(status), row.id));
  if (status == RunStatus::finished)
    throw input_error(
        fmt::format("run {} has finished, so nothing is left to resume; to train longer, start a run with "
                    "its settings (`show {}`) and a larger --epochs, --examples or --steps",
                    row.id, row.id));
}

run::RunSpec without_name(run::RunSpec spec) {
  spec.name.clear();
  return spec;
}

void check_label(const Resumable& run, const checkpoint::Label& label) {
  if (label.run != run.row.uid)
    throw input_error(fmt::format("the checkpoint at step {} is of another run than {}; remove it from {}", label.step,
                                  run.row.id, run.folder.string()));
  const auto spec = run::stored_spec(label.spec_json);
  if (!spec || run::to_json(without_name(*spec)) != run::to_json(without_name(run.spec)))
    throw input_error(fmt::format("the checkpoint at step {} was made with other settings than run {} has; remove it "
                                  "from {}",
                                  label.step, run.row.id, run.folder.string()));
}

/// Whether a checkpoint was found; those that are damaged are passed over, with a note.
bool take_newest(Resumable& run) {
  for (const checkpoint::File& file : checkpoint::files_in(run.folder)) {
    try {
      run.checkpoint = checkpoint::read(file.path);
    } catch (const Error& error) {
      run.notes.push_back(telemetry::because(Words::checkpoint_passed_over, {{"error", std::string(error.what())}}));
      continue;
    }
    check_label(run, run.checkpoint.label);
    if (run.checkpoint.label.step <= run.row.outcome.steps)
      return true;
    run.notes.push_back(telemetry::because(
        Words::checkpoint_ahead,
        {{"file", file.path.string()}, {"stored_steps", run.row.outcome.steps}, {"steps", run.checkpoint.label.step}}));
  }
  return false;
}

Error no_checkpoint(const Resumable& run) {
  if (run.notes.empty())
    return input_error(fmt::format("run {} has no checkpoint ({}); runs keep them with --checkpoint-every or "
                                   "--checkpoint-minutes; to train it from its beginning, start a run with its "
                                   "settings (`show {}`)",
                                   run.row.id, run.folder.string(), run.row.id));
  std::vector<std::string> notes;
  for (const telemetry::Reason& note : run.notes)
    notes.push_back(telemetry::english(note));
  return input_error(fmt::format("run {} has no checkpoint that can be used: {}", run.row.id, fmt::join(notes, "; ")));
}

/// The run had the default budget: it gets the same again, unless the machine has less now.
std::uint64_t budget_of(const Resumable& run) {
  const std::uint64_t before = run.start.budget_bytes;
  if (run.spec.device != "cpu" || before <= free_host_memory())
    return before;
  return static_cast<std::uint64_t>(share_of_free_memory * static_cast<double>(free_host_memory()));
}

void note_differences(Resumable& run, const run::Environment& now) {
  const Json before = parse_json_or_discard(run.environment_json);
  const Json after = parse_json(run::to_json(now));
  if (!before.is_object())
    return;
  for (const char* part : {"libtorch", "device", "threads"})
    if (before.contains(part) && !before[part].is_null() && before[part] != after[part])
      run.notes.push_back(telemetry::because(
          Words::made_with_other,
          {{"part", std::string(part)}, {"before", json_text(before[part])}, {"now", json_text(after[part])}}));
}

telemetry::Resumed report_of(const Resumable& run) {
  const std::int64_t step = run.checkpoint.label.step;
  return {.from_step = step, .replaced_steps = run.row.outcome.steps - step, .at = utc_now(), .notes = run.notes};
}

} // namespace

Resumable find_resumable(const std::filesystem::path& database, std::int64_t run) {
  const store::RunReader reader(database);
  Resumable found;
  found.row = reader.run(run);
  check_ended(found.row);
  const auto spec = run::stored_spec(reader.spec_json(run));
  if (!spec)
    throw input_error(
        fmt::format("run {} was made by another program or a newer version, which alone can resume it", run));
  if (spec->program)
    throw input_error(fmt::format("run {} is of a program of your own, whose checkpoints only the program can read; "
                                  "start it again with `run`; `run --adopt {}` goes on with one that still trains",
                                  run, run));
  found.spec = *spec;
  found.start = run::stored_start(reader.start_json(run));
  found.environment_json = reader.environment_json(run);
  found.folder = checkpoint::folder_of_run(database, found.row.uid);
  if (!take_newest(found))
    throw no_checkpoint(found);
  return found;
}

std::unique_ptr<run::Session> open_resumed(Resumable& resumable, const std::shared_ptr<data::DataPool>& pool) {
  run::RunSpec spec = resumable.spec;
  spec.init.clear(); // the checkpoint has the weights
  if (!spec.memory_budget && resumable.start.budget_bytes > 0)
    spec.memory_budget = budget_of(resumable);
  auto session = run::open_session(spec, pool);
  const run::Environment environment = session->environment();
  const std::string& checksum = resumable.checkpoint.label.data_checksum;
  if (!checksum.empty() && environment.data_checksum != checksum)
    throw input_error(fmt::format("run {}: the training data have changed since its checkpoint (checksum {} then, {} "
                                  "now); restore them, or start a new run",
                                  resumable.row.id, resumable.checkpoint.label.data_checksum,
                                  environment.data_checksum));
  note_differences(resumable, environment);
  session->choose_batch(resumable.start.batch, resumable.start.batch_reason);
  session->restore(resumable.checkpoint, report_of(resumable));
  return session;
}

} // namespace batchscope::job
