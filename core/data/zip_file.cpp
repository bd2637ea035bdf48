#include "core/data/zip_file.h"

#include <fmt/format.h>
#include <zip.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::data {

namespace {

/// Deflate expands one byte to at most 1032.
constexpr std::uint64_t max_unpacked = 1032;

bool has_no_end(int code) {
#ifdef ZIP_ER_TRUNCATED_ZIP // from libzip 1.11 on
  if (code == ZIP_ER_TRUNCATED_ZIP)
    return true;
#endif
  return code == ZIP_ER_NOZIP;
}

std::shared_ptr<zip> opened(const std::string& path) {
  int code = 0;
  if (zip* archive = zip_open(path.c_str(), ZIP_RDONLY, &code))
    return {archive, zip_discard};
  if (code == ZIP_ER_OPEN || code == ZIP_ER_READ)
    throw input_error(fmt::format("{}: cannot be read", path));
  throw input_error(fmt::format("{}: {}", path,
                                has_no_end(code) ? "is not a ZIP archive, or its end is missing"
                                                 : "the directory of the ZIP archive is damaged"));
}

/// Directory entry of a file of the archive. Refuses a file that cannot be read, or would become far larger than the
/// entry says.
zip_stat_t checked_entry(const std::string& path, std::uint64_t archive_bytes, zip* archive, zip_uint64_t index) {
  zip_stat_t entry;
  constexpr zip_uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &entry) != 0 || (entry.valid & needed) != needed)
    throw input_error(fmt::format("{}: the directory of the ZIP archive is damaged", path));
  const auto refuse = [&](const char* why) {
    throw input_error(fmt::format("{}({}): {}", path, shortened(entry.name), why));
  };
  if (entry.comp_size > archive_bytes)
    refuse("lies outside of the archive");
  if (entry.encryption_method != ZIP_EM_NONE)
    refuse("is encrypted");
  if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE)
    refuse("is packed with a method other than deflate");
  if (entry.size > (entry.comp_method == ZIP_CM_STORE ? entry.comp_size : entry.comp_size * max_unpacked))
    refuse("should have more bytes than it can hold unpacked");
  return entry;
}

struct CloseEntry {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

/// A file of an archive, unpacked.
class EntryBytes final : public InputBytes {
public:
  EntryBytes(const std::string& path, std::shared_ptr<zip> archive, const std::string& name, std::uint64_t index,
             std::uint64_t size)
      : InputBytes(fmt::format("{}({})", path, shortened(name))), archive_(std::move(archive)) {
    set_max_bytes(size);
    file_.reset(zip_fopen_index(archive_.get(), index, 0));
    if (!file_)
      refuse(fmt::format("cannot be read: {}", zip_strerror(archive_.get())));
  }

private:
  std::size_t read_some(void* to, std::size_t count) override {
    const zip_int64_t got = zip_fread(file_.get(), to, count);
    if (got >= 0)
      return static_cast<std::size_t>(got);
    const bool checksum = zip_error_code_zip(zip_file_get_error(file_.get())) == ZIP_ER_CRC;
    refuse(checksum ? "is damaged: its checksum is not what the archive says"
                    : fmt::format("is damaged: {}", zip_file_strerror(file_.get())));
  }

  std::shared_ptr<zip> archive_;
  std::unique_ptr<zip_file_t, CloseEntry> file_;
};

} // namespace

ZipFile::ZipFile(const std::string& path) : path_(path) {
  const std::uint64_t bytes = checked_size(path);
  archive_ = opened(path);
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive_.get(), 0));
  for (zip_uint64_t index = 0; index < count; ++index) {
    const zip_stat_t entry = checked_entry(path, bytes, archive_.get(), index);
    entries_[entry.name] = {.index = index, .size = entry.size};
  }
}

std::unique_ptr<InputBytes> ZipFile::open(const std::string& name) const {
  const Entry& entry = entries_.at(name);
  return std::make_unique<EntryBytes>(path_, archive_, name, entry.index, entry.size);
}

} // namespace batchscope::data
