#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/data/input_file.h"

struct zip;

namespace batchscope::data {

/// The files of a ZIP archive, stored or deflated, also above 4 GB (zip64).
class ZipFile {
public:
  /// Reads the archive's directory. Throws Error (input) naming the archive, and the file in it that cannot be read.
  explicit ZipFile(const std::string& path);

  struct Entry {
    std::uint64_t index = 0; ///< in the archive
    std::uint64_t size = 0;  ///< bytes unpacked
  };
  /// By name; of several with one name the last.
  const std::map<std::string, Entry>& entries() const { return entries_; }

  /// Reads a file of the archive, one of entries(). Its checksum is checked when its last byte is read. Messages name
  /// it as ARCHIVE(NAME).
  std::unique_ptr<InputBytes> open(const std::string& name) const;

private:
  std::string path_;
  std::shared_ptr<zip> archive_; ///< libzip's
  std::map<std::string, Entry> entries_;
};

} // namespace batchscope::data
