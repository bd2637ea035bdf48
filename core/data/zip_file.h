#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/data/input_file.h"

struct zip;

namespace batchscope::data {

/// The files of a ZIP archive, stored or deflated, also above 4 GB (zip64).
class ZipFile {
public:
  /// Reads the archive's directory. Throws Error (input) naming the archive, and the file in it that cannot be read.
  explicit ZipFile(const std::string& path);

  const std::vector<std::string>& names() const { return names_; } ///< in ascending order
  bool has(const std::string& name) const;

  /// Reads a file of the archive, one of names(). Its checksum is checked when its last byte is read. Messages name it
  /// as ARCHIVE(NAME).
  std::unique_ptr<InputBytes> open(const std::string& name) const;

private:
  std::string path_;
  std::shared_ptr<zip> archive_; ///< libzip's
  std::vector<std::string> names_;
};

} // namespace batchscope::data
