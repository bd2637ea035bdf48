#pragma once

#include <cstdint>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Adds a command, see RunStore::send(), inside the caller's transaction; returns its number.
std::int64_t insert_command(SQLite::Database& database, std::int64_t run, const Command& command);

/// Commands from other processes to the runs of this process. Throws SQLite::Exception.
class CommandInbox {
public:
  explicit CommandInbox(SQLite::Database& database);

  /// Takes the commands to a run that were not taken yet, in order. Once it returns, taking them is committed, so none
  /// is returned twice; if it throws, none is taken. Do not call it inside a transaction.
  std::vector<Command> take(std::int64_t run);

private:
  SQLite::Database& database_;
  SQLite::Statement waiting_;
  SQLite::Statement mark_;
};

} // namespace batchscope::store::detail
