#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/data/input_file.h"

namespace batchscope::data {

/// The files of a ZIP archive, stored or deflated, also above 4 GB (zip64).
class ZipFile {
public:
  /// Reads the archive's directory. Throws Error (input) naming the archive.
  explicit ZipFile(const std::string& path);

  struct Entry {
    std::uint64_t packed = 0; ///< bytes in the archive
    std::uint64_t size = 0;   ///< bytes unpacked
    std::uint64_t header = 0; ///< offset of its local header
    std::uint32_t crc = 0;
    unsigned method = 0; ///< 0: stored, 8: deflated
    bool encrypted = false;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; } ///< by name

  /// Reads an entry, whose name is in entries(). Its checksum is checked when its last byte is read. Messages name it
  /// as ARCHIVE(NAME).
  std::unique_ptr<InputBytes> open(const std::string& name) const;

private:
  std::string path_;
  std::map<std::string, Entry> entries_;
};

} // namespace batchscope::data
