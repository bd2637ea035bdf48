#include "core/data/zip_file.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::data {

namespace {

constexpr std::uint64_t max_directory = 64U << 20;
/// Deflate expands one byte to at most 1032.
constexpr std::uint64_t max_unpacked = 1032;
constexpr std::uint64_t in_zip64 = 0xFFFF'FFFF; ///< a 32-bit number that stands in the zip64 record instead

/// Little-endian numbers at offsets of a record.
class Record {
public:
  explicit Record(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes_.at(at + i))} << 8 * i;
    return value;
  }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  std::size_t size() const { return bytes_.size(); }
  std::string_view part(std::size_t at, std::size_t count) const {
    if (at > size() || count > size() - at)
      throw std::out_of_range("record");
    return bytes_.substr(at, count);
  }

private:
  std::string_view bytes_;
};

std::string read_at(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  std::string bytes(count, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// Where the list of entries is.
struct Directory {
  std::uint64_t offset = 0, bytes = 0;
};

/// From the record at the end of the archive, which a comment may follow.
std::optional<Directory> find_directory(std::ifstream& file, std::uint64_t size) {
  constexpr std::size_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56, longest_comment = 0xFFFF;
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size, end_bytes + longest_comment + locator_bytes);
  const std::string tail = read_at(file, size - tail_bytes, tail_bytes);
  const std::size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos)
    return std::nullopt;
  const Record record(std::string_view(tail).substr(end));
  Directory found{.offset = record.u32(16), .bytes = record.u32(12)};
  if (end >= locator_bytes && tail.compare(end - locator_bytes, 4, "PK\6\7") == 0) {
    const std::string end64 = read_at(file, Record(tail).u64(end - locator_bytes + 8), end64_bytes);
    if (!end64.starts_with("PK\6\6"))
      return std::nullopt;
    found = {.offset = Record(end64).u64(48), .bytes = Record(end64).u64(40)};
  }
  return found;
}

/// Numbers too large for 32 bits, in the order in which they are missed.
void read_zip64(Record extra, ZipFile::Entry& entry) {
  constexpr unsigned zip64 = 1;
  for (std::size_t at = 0; at + 4 <= extra.size(); at += 4 + extra.u16(at + 2)) {
    if (extra.u16(at) != zip64)
      continue;
    std::size_t next = at + 4;
    for (std::uint64_t* number : {&entry.size, &entry.packed, &entry.header}) {
      if (*number == in_zip64) {
        *number = extra.u64(next);
        next += 8;
      }
    }
  }
}

std::map<std::string, ZipFile::Entry> entries_in(const Record& directory) {
  constexpr std::size_t fixed = 46;
  std::map<std::string, ZipFile::Entry> entries;
  for (std::size_t at = 0; at < directory.size();) {
    if (directory.part(at, 4) != "PK\1\2")
      throw std::out_of_range("entry");
    const std::size_t name = directory.u16(at + 28), extra = directory.u16(at + 30), comment = directory.u16(at + 32);
    ZipFile::Entry entry{.packed = directory.u32(at + 20),
                         .size = directory.u32(at + 24),
                         .header = directory.u32(at + 42),
                         .crc = directory.u32(at + 16),
                         .method = directory.u16(at + 10),
                         .encrypted = (directory.u16(at + 8) & 1) != 0};
    read_zip64(Record(directory.part(at + fixed + name, extra)), entry);
    entries[std::string(directory.part(at + fixed, name))] = entry;
    at += fixed + name + extra + comment;
  }
  return entries;
}

/// An entry's bytes, unpacked.
class EntryBytes final : public InputBytes {
public:
  EntryBytes(const std::string& archive, const std::string& name, const ZipFile::Entry& entry)
      : InputBytes(fmt::format("{}({})", archive, shortened(name))), file_(archive, std::ios::binary), entry_(entry),
        left_(entry.packed) {
    constexpr std::uint64_t fixed = 30;
    const std::string header = read_at(file_, entry.header, fixed);
    if (header.size() < fixed || !header.starts_with("PK\3\4"))
      refuse(fmt::format("has no header at offset {} of the archive", entry.header));
    file_.seekg(static_cast<std::streamoff>(entry.header + fixed + Record(header).u16(26) + Record(header).u16(28)));
    set_max_bytes(entry.size);
    if (entry_.method == Z_DEFLATED && inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
  }
  ~EntryBytes() override {
    if (entry_.method == Z_DEFLATED)
      inflateEnd(&stream_);
  }

private:
  std::size_t read_some(void* to, std::size_t count) override {
    auto* bytes = static_cast<Bytef*>(to);
    const std::size_t got = entry_.method == Z_DEFLATED ? inflate_some(bytes, count) : take_packed(bytes, count);
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, bytes, got));
    read_ += got;
    if (got > 0 && read_ == entry_.size && crc_ != entry_.crc)
      refuse(fmt::format("is damaged: its checksum is {:08x}, and the archive says {:08x}", crc_, entry_.crc));
    return got;
  }

  std::size_t take_packed(Bytef* to, std::size_t count) {
    const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(count, left_));
    file_.read(reinterpret_cast<char*>(to), wanted);
    const auto got = static_cast<std::size_t>(file_.gcount());
    left_ -= got;
    return got;
  }

  std::size_t inflate_some(Bytef* to, std::size_t count) {
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0) {
        stream_.next_in = packed_.data();
        stream_.avail_in = static_cast<uInt>(take_packed(packed_.data(), packed_.size()));
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END || status == Z_BUF_ERROR)
        break;
      if (status != Z_OK)
        refuse(fmt::format("is damaged after {} unpacked bytes", read_ + count - stream_.avail_out));
    }
    return count - stream_.avail_out;
  }

  std::ifstream file_;
  ZipFile::Entry entry_;
  std::uint64_t left_; ///< packed bytes not read yet
  std::uint64_t read_ = 0;
  std::uint32_t crc_ = 0;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> packed_{};
};

std::map<std::string, ZipFile::Entry> entries_of(const std::string& path, std::uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw input_error(fmt::format("{}: cannot be read", path));
  const auto refused = [&](const char* why) { return input_error(fmt::format("{}: {}", path, why)); };
  try {
    const auto directory = find_directory(file, size);
    if (!directory)
      throw refused("is not a ZIP archive, or its end is missing");
    if (directory->offset > size || directory->bytes > size - directory->offset || directory->bytes > max_directory)
      throw refused("the directory of the ZIP archive lies outside of the file");
    const std::string bytes = read_at(file, directory->offset, directory->bytes);
    return entries_in(Record(bytes));
  } catch (const std::out_of_range&) {
    throw refused("the directory of the ZIP archive is damaged");
  }
}

/// Refuses entries that cannot be read, or would become far larger than they say.
void check_entries(const std::string& path, std::uint64_t size, const std::map<std::string, ZipFile::Entry>& entries) {
  for (const auto& named : entries) {
    const ZipFile::Entry& entry = named.second;
    const auto refuse = [&](const char* why) {
      throw input_error(fmt::format("{}({}): {}", path, shortened(named.first), why));
    };
    if (entry.header > size || entry.packed > size)
      refuse("lies outside of the archive");
    if (entry.encrypted)
      refuse("is encrypted");
    if (entry.method != 0 && entry.method != Z_DEFLATED)
      refuse("is packed with a method other than deflate");
    if (entry.size > (entry.method == 0 ? entry.packed : entry.packed * max_unpacked))
      refuse("should have more bytes than it can hold unpacked");
  }
}

std::map<std::string, ZipFile::Entry> checked_entries(const std::string& path) {
  const std::uint64_t size = checked_size(path);
  auto entries = entries_of(path, size);
  check_entries(path, size, entries);
  return entries;
}

} // namespace

ZipFile::ZipFile(const std::string& path) : path_(path), entries_(checked_entries(path)) {}

std::unique_ptr<InputBytes> ZipFile::open(const std::string& name) const {
  return std::make_unique<EntryBytes>(path_, name, entries_.at(name));
}

} // namespace batchscope::data
