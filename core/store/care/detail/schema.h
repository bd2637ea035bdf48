#pragma once

#include <filesystem>

namespace batchscope::store::detail {

/// Gives a copy of a database whose schema is damaged the schema of a new one: where the tables begin in the file
/// follows from the order in which they were created, which is the same in each. `copy` has no log any more after it;
/// `scratch` is a name for new databases, of which nothing is left. False if with none of them most rows that have
/// checksums match them: the file then has another format, or its tables are damaged, too. Throws SQLite::Exception,
/// Error and std::filesystem::filesystem_error.
bool renew_schema(const std::filesystem::path& copy, const std::filesystem::path& scratch);

} // namespace batchscope::store::detail
