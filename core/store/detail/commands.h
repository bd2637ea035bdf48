#pragma once

#include <cstdint>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Adds a command, see RunStore::send(), inside a transaction of the caller; returns its number.
std::int64_t insert_command(SQLite::Database& database, std::int64_t run, const Command& command);

/// What others send to the runs of this process. Throws SQLite::Exception.
class CommandInbox {
public:
  explicit CommandInbox(SQLite::Database& database);

  /// The commands to a run that were not taken yet, in order. When it returns, that they are taken is committed, so
  /// none is ever given twice; when it throws, none is taken. Not inside a transaction.
  std::vector<Command> take(std::int64_t run);

private:
  SQLite::Database& database_;
  SQLite::Statement waiting_;
  SQLite::Statement mark_;
};

} // namespace batchscope::store::detail
