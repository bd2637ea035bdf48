#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace batchscope::store::detail {

/// A record of what was stored in a run database, kept beside it in FILE-ledger. If the database file is rolled back by
/// anything, the ledger is not, so `check` can report what is missing.
///
/// A text file. Its first line is the database's identity. Every further line is a run with its number and the points
/// of all its series so far, or a purged run. A run's last line is valid, but with its largest number of points. Whole
/// lines are appended under a file lock. A line that cannot be written (full disk) is skipped, so the ledger may know
/// less than the database, never more.
class Ledger {
public:
  /// Does not create the file.
  Ledger(const std::filesystem::path& database, std::string identity);

  struct Run {
    std::string uid;
    std::int64_t id = 0;
    std::int64_t points = 0;
  };

  /// Appends what was committed. Starts a new ledger if the file belongs to another database.
  void stored(const std::vector<Run>& runs) const;
  /// Call it before committing the transaction that purges the runs; check() then does not report them as missing.
  void purged(const std::vector<std::string>& uids) const;
  /// Makes `runs` the whole content.
  void replace(const std::vector<Run>& runs) const;

  /// The runs that were stored and not purged, by uid; empty if there is no ledger of this database.
  std::map<std::string, Run> read() const;
  bool exists() const;
  /// Drops superseded lines if they are the greater part of a large file.
  void compact() const;

private:
  std::string header() const;
  void append(const std::string& lines) const;
  void write_anew(int descriptor, const std::string& lines) const;

  std::filesystem::path file_;
  std::string identity_;
};

} // namespace batchscope::store::detail
