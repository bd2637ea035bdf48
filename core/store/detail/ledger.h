#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace batchscope::store::detail {

/// What was stored in a run database, kept beside it in FILE-ledger: a file that is rolled back, by whatever, does not
/// take its ledger back with it, so `check` can say what is missing.
///
/// A text file. Its first line names the database's identity; each further line is a run with its number and the points
/// of all its series so far, or a run that was purged. The last line of a run counts, but for its points the largest
/// number. Lines are only appended, whole, under a lock of the file; what cannot be written (a full disk) is left out,
/// so the ledger may know less than the database, never more.
class Ledger {
public:
  /// Makes no file yet.
  Ledger(const std::filesystem::path& database, std::string identity);

  struct Run {
    std::string uid;
    std::int64_t id = 0;
    std::int64_t points = 0;
  };

  /// Appends what is committed. Starts the file anew where it is that of another database.
  void stored(const std::vector<Run>& runs) const;
  /// Call it before the transaction that purges is committed: a run that is missing then is missing on purpose.
  void purged(const std::vector<std::string>& uids) const;
  /// Takes `runs` as all there is.
  void replace(const std::vector<Run>& runs) const;

  /// The runs that were stored and not purged, by uid; none where there is no ledger of this database.
  std::map<std::string, Run> read() const;
  bool exists() const;
  /// Leaves out lines that later ones made void, where these are most of a large file.
  void compact() const;

private:
  std::string header() const;
  void append(const std::string& lines) const;
  void write_anew(int descriptor, const std::string& lines) const;

  std::filesystem::path file_;
  std::string identity_;
};

} // namespace batchscope::store::detail
