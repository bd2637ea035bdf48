#include "core/store/care/detail/schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/error.h"
#include "core/store/care/detail/damaged_rows.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/row_checks.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

namespace fs = std::filesystem;

/// What a database may have gone through since it was new, as far as that moves its tables: VACUUM writes them in the
/// order of the schema, in which the statistics of ANALYZE are the last.
constexpr std::array<const char*, 3> histories = {"", "VACUUM", "ANALYZE; VACUUM"};

/// The pages of a database that hold its schema, by their numbers from 1.
struct Schema {
  std::size_t page_bytes = 0;
  std::map<std::int64_t, std::string> pages;
};

void remove_database(const fs::path& file) {
  for (const fs::path& each : {file, log_of(file), index_of(file)})
    fs::remove(each);
}

Schema schema_of_new(const fs::path& scratch, const char* history) {
  Schema schema;
  std::vector<std::int64_t> numbers;
  remove_database(scratch);
  {
    SQLite::Database fresh = open_for_writing(scratch);
    fresh.exec(history);
    schema.page_bytes = static_cast<std::size_t>(find_integer(fresh, "PRAGMA page_size").value());
    numbers = find_integers(fresh, "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'");
  } // closing it writes all pages into the file
  std::ifstream stream(scratch, std::ios::binary);
  for (const std::int64_t number : numbers) {
    std::string& page = schema.pages[number];
    page.resize(schema.page_bytes);
    stream.seekg((number - 1) * static_cast<std::int64_t>(schema.page_bytes));
    stream.read(page.data(), static_cast<std::streamsize>(page.size()));
  }
  remove_database(scratch);
  return schema;
}

void put_big_endian(std::string& page, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    page[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

/// Writes the pages over those of the copy. The header is on the first one: it gets the number of the file's pages, and
/// no list of free ones, which only writing needs (https://sqlite.org/fileformat2.html, "The Database Header").
void put(Schema schema, const fs::path& copy) {
  constexpr std::size_t page_count_at = 28, free_list_at = 32, free_count_at = 36;
  const auto count = static_cast<std::int64_t>(fs::file_size(copy) / schema.page_bytes);
  std::string& first = schema.pages.at(1);
  put_big_endian(first, page_count_at, static_cast<std::uint32_t>(count));
  put_big_endian(first, free_list_at, 0);
  put_big_endian(first, free_count_at, 0);
  std::fstream stream(copy, std::ios::binary | std::ios::in | std::ios::out);
  for (const auto& [number, page] : schema.pages) {
    if (number > count)
      continue;
    stream.seekp((number - 1) * static_cast<std::int64_t>(page.size()));
    stream.write(page.data(), static_cast<std::streamsize>(page.size()));
  }
  if (!stream.flush())
    throw Error(Error::Kind::failed, fmt::format("{}: cannot be written", copy.string()));
}

/// Whether most rows match their checksums; false if there are none.
bool is_plausible(const fs::path& copy) {
  std::int64_t whole = 0, damaged = 0;
  SQLite::Database database(copy.string(), SQLite::OPEN_READWRITE);
  add_check_function(database);
  for (const CheckedTable& table : checked_tables(database)) {
    const auto judge = [&](SQLite::Statement& row) { ++(damage_of(row, 1, table).empty() ? whole : damaged); };
    scan_rows(database, table.name, check_columns(table), judge, [&](std::int64_t) { ++damaged; });
  }
  return whole > damaged;
}

/// What the log of a killed program holds goes into the file, where SQLite can do that.
void take_in_log(const fs::path& copy) {
  try {
    const SQLite::Database database(copy.string(), SQLite::OPEN_READWRITE);
    sqlite3_wal_checkpoint_v2(database.getHandle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  } catch (const SQLite::Exception& exception) {
    if (!is_damage(exception))
      throw;
  }
  fs::remove(log_of(copy));
  fs::remove(index_of(copy));
}

} // namespace

bool renew_schema(const fs::path& copy, const fs::path& scratch) {
  take_in_log(copy);
  // Each one is put over what an earlier one has left, whose pages may be those of tables.
  const fs::path before = scratch.string() + "-before";
  fs::copy_file(copy, before, fs::copy_options::overwrite_existing);
  bool renewed = false;
  for (const char* history : histories) {
    if (renewed)
      break;
    fs::copy_file(before, copy, fs::copy_options::overwrite_existing);
    put(schema_of_new(scratch, history), copy);
    try {
      renewed = is_plausible(copy);
    } catch (const SQLite::Exception& exception) {
      if (!is_damage(exception) && exception.getErrorCode() != SQLITE_ERROR)
        throw;
    }
  }
  fs::remove(before);
  return renewed;
}

} // namespace batchscope::store::detail
