#pragma once

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store_test.h"

namespace batchscope::store::test {

/// A database that version 0.1.0 has written: runs 1 to 4 of sweep 1, run 5 with an out-of-memory error, search 1.
inline void make_of_format_6(const std::filesystem::path& file) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(text_of(BATCHSCOPE_SOURCE_DIR "/tests/core/store/files/format-6.sql"));
}

} // namespace batchscope::store::test
