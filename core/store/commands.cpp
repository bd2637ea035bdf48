#include "core/store/detail/commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

constexpr std::array verbs = {"pause", "continue", "step", "stop", "stop-job", "edit", "budget", "shares"};

void check(const Command& command) {
  if (std::find(verbs.begin(), verbs.end(), command.verb) == verbs.end())
    throw input_error(fmt::format("unknown command {}; accepted: {}", in_quotes(command.verb), fmt::join(verbs, ", ")));
  if (!parse_json(command.detail_json).is_object())
    throw input_error("the details of a command must be a JSON object");
}

} // namespace

std::int64_t insert_command(SQLite::Database& database, std::int64_t run, const Command& command) {
  check(command);
  const auto row = find_run(database, run);
  if (!row)
    throw input_error(fmt::format("there is no run {}", run));
  if (row->outcome.status != telemetry::RunStatus::running)
    throw input_error(
        fmt::format("run {} is {}; only running runs can be steered", run, telemetry::to_string(row->outcome.status)));
  execute(database, "INSERT INTO command (run, created, verb, detail) VALUES (?, ?, ?, ?)", run, utc_now(),
          command.verb, command.detail_json);
  return database.getLastInsertRowid();
}

CommandInbox::CommandInbox(SQLite::Database& database)
    : database_(database),
      waiting_(database, "SELECT id, verb, detail FROM command WHERE run = ? AND taken IS NULL ORDER BY id"),
      mark_(database, "UPDATE command SET taken = 1 WHERE run = ? AND taken IS NULL AND id <= ?") {}

std::vector<Command> CommandInbox::take(std::int64_t run) {
  std::vector<Command> commands;
  std::int64_t last = 0;
  {
    const ResetAtEnd reset(waiting_);
    waiting_.bind(1, run);
    while (waiting_.executeStep()) {
      last = waiting_.getColumn(0).getInt64();
      commands.push_back({.verb = waiting_.getColumn(1), .detail_json = waiting_.getColumn(2), .number = last});
    }
  }
  if (commands.empty())
    return commands;
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  execute(mark_, run, last);
  transaction.commit();
  return commands;
}

} // namespace batchscope::store::detail
