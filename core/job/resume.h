#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/run/session.h"
#include "core/store/run_row.h"
#include "core/telemetry/reason.h"

namespace batchscope::job {

/// A stored run and the checkpoint from which it can go on.
struct Resumable {
  store::RunRow row;
  run::RunSpec spec;
  run::RunStart start;
  checkpoint::Checkpoint checkpoint;
  std::filesystem::path folder; ///< of the run's checkpoints
  std::string environment_json; ///< in which it was made so far
  /// Notes for the user, such as a damaged checkpoint that was passed over.
  std::vector<telemetry::Reason> notes;
};

/// The newest checkpoint of the run that is whole. Changes nothing. Throws Error (input), saying what can be done, for
/// a run that does not exist, has not ended, has finished, was not made by this program or has no checkpoint that can
/// be used, and for a checkpoint of another run or with other settings.
Resumable find_resumable(const std::filesystem::path& database, std::int64_t run);

/// A session that goes on from the checkpoint, for run_and_store(). Adds to the notes what differs from the environment
/// before. Throws what run::open_session() throws, and Error (input) if the training data or the model have changed.
std::unique_ptr<run::Session> open_resumed(Resumable& resumable, const std::shared_ptr<data::DataPool>& pool = nullptr);

} // namespace batchscope::job
