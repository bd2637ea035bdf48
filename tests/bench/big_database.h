#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace batchscope::bench {

/// What the generator wrote.
struct BigDatabase {
  std::int64_t runs = 0;
  std::int64_t points = 0; ///< values of all series
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// Writes a database of `runs` runs with about `points` points through the store, as training does: settings and
/// outcomes that differ, one run of `longest` steps and the others of equal length.
BigDatabase make_big_database(const std::filesystem::path& file, std::int64_t runs, std::int64_t points,
                              std::int64_t longest);

/// What the window does with such a database, in milliseconds.
struct BigCost {
  std::size_t runs = 0;
  double table = 0;   ///< from opening the database until the table of all runs is drawn
  double filter = 0;  ///< from the slowest key of several filters until the table is drawn
  double first = 0;   ///< from opening the longest run until its first points are drawn
  double drawn = 0;   ///< until all its points are
  double longest = 0; ///< longest time in which the window did not answer meanwhile
  double curve = 0;   ///< from choosing another series of it in Compare's curves until all its points are drawn
  std::size_t steps = 0;
  std::uint64_t peak_bytes = 0; ///< memory of the process, at most
};

/// Opens it in the window, without a display. At most once in a process.
BigCost measure_big_database(const std::filesystem::path& file);

/// The same runs as event files beside TensorBoard's own reader, in seconds.
struct EventFileCost {
  std::size_t runs = 0;
  std::int64_t points = 0;
  double open = 0;   ///< all runs listed and all series read from the database
  double import = 0; ///< the event files imported into a new database
  double read = 0;   ///< of that, reading the files
  double theirs = 0; ///< tensorboard's EventMultiplexer; 0 without a Python that has it
};

/// `python`: a Python with tensorboard; may be empty.
EventFileCost measure_event_files(const std::filesystem::path& folder, std::int64_t runs, std::int64_t points,
                                  const std::string& python);

} // namespace batchscope::bench
