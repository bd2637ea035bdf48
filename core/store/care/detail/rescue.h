#pragma once

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// Moves everything that is whole from a damaged database into a new, empty one; returns what is lost, one line each.
/// The damaged one needs add_check_function(). Throws SQLite::Exception.
std::vector<std::string> rescue(SQLite::Database& old, SQLite::Database& fresh);

} // namespace batchscope::store::detail
