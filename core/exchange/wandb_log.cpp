#include "core/exchange/detail/wandb_log.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "core/base/error.h"

namespace batchscope::exchange::detail {

namespace {

constexpr std::size_t block_bytes = 32768;
/// Checksum, size and kind of a part.
constexpr std::size_t part_head = 7;
constexpr std::string_view file_head(":W&B\xE1\xBE\0", 7);
constexpr std::size_t most_record_bytes = 1 << 28;

enum PartKind { filler = 0, full = 1, first = 2, middle = 3, last = 4 };

} // namespace

WandbLog::WandbLog(const std::filesystem::path& file) : in_(file, std::ios::binary) {
  read_block();
  const bool begun = block_.size() < file_head.size() && file_head.starts_with(block_);
  if (!begun && !block_.starts_with(file_head))
    throw input_error("not a log of W&B");
  position_ = std::min(block_.size(), file_head.size());
}

bool WandbLog::read_block() {
  block_begin_ += block_.size();
  block_.resize(block_bytes);
  in_.read(block_.data(), static_cast<std::streamsize>(block_bytes));
  block_.resize(static_cast<std::size_t>(std::max<std::streamsize>(in_.gcount(), 0)));
  position_ = 0;
  return !block_.empty();
}

std::optional<WandbLog::Part> WandbLog::part_at(std::size_t position) const {
  if (position + part_head > block_.size())
    return std::nullopt;
  std::uint32_t checksum = 0;
  std::uint16_t size = 0;
  std::memcpy(&checksum, block_.data() + position, sizeof checksum);
  std::memcpy(&size, block_.data() + position + sizeof checksum, sizeof size);
  const std::size_t kind_at = position + sizeof checksum + sizeof size;
  Part part{.kind = static_cast<unsigned char>(block_[kind_at]), .size = size};
  if (position + part_head + size > block_.size())
    return part;
  const auto* bytes = reinterpret_cast<const Bytef*>(block_.data() + kind_at);
  part.sound = crc32(0, bytes, static_cast<uInt>(1 + size)) == checksum && part.kind >= full && part.kind <= last;
  return part;
}

std::optional<std::string> WandbLog::next() {
  for (;;) {
    const auto part = part_at(position_);
    const bool padding = part && part->kind == filler && part->size == 0;
    if (!part || padding) { // the rest of a block is not used
      if (block_.size() < block_bytes || !read_block())
        return std::nullopt;
      continue;
    }
    if (!part->sound) {
      const bool cut_off = block_.size() < block_bytes && position_ + part_head + part->size > block_.size();
      if (cut_off)
        return std::nullopt; // it is still being written
      skip_damage(*part);
      continue;
    }
    const bool whole = take(*part);
    position_ += part_head + part->size;
    if (whole)
      return std::exchange(record_, {});
  }
}

void WandbLog::note_damage() {
  if (++damaged_ == 1)
    first_damage_ = block_begin_ + position_;
  in_record_ = false;
  record_.clear();
}

/// Goes on behind the part if its size leads to a sound one, else with the next block.
void WandbLog::skip_damage(const Part& part) {
  note_damage();
  const std::size_t behind = position_ + part_head + part.size;
  const auto following = part_at(behind);
  position_ = following && following->sound ? behind : block_.size();
}

bool WandbLog::take(const Part& part) {
  const bool begins = part.kind == full || part.kind == first;
  if (begins == in_record_ || record_.size() + part.size > most_record_bytes) {
    if (begins) {
      note_damage(); // the record before has no end
    } else {
      in_record_ = false; // its begin was damaged
      record_.clear();
      return false;
    }
  }
  record_.append(block_, position_ + part_head, part.size);
  in_record_ = part.kind == first || part.kind == middle;
  return !in_record_;
}

} // namespace batchscope::exchange::detail
