#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace batchscope::exchange::detail {

/// Reads the records of W&B's `run-ID.wandb`: LevelDB's log format (its doc/log_format.md) with the CRC-32 of zlib,
/// after 7 bytes of its own. A record that is damaged costs itself, or the rest of its block of 32 KiB where it is not
/// known how long it is.
class WandbLog {
public:
  /// Throws Error (input) if the file does not begin as one of these, as far as it goes.
  explicit WandbLog(const std::filesystem::path& file);

  /// The next whole record, a message `wandb_internal.Record`; nothing at the end, where a record may be cut off.
  std::optional<std::string> next();
  std::int64_t damaged() const { return damaged_; } ///< so far
  /// Byte of the file at which the first damage is.
  std::uint64_t first_damage() const { return first_damage_; }

private:
  /// A record, or a part of one that lies in several blocks.
  struct Part {
    int kind = 0;
    std::uint32_t size = 0;
    bool sound = false;
  };

  bool read_block();
  std::optional<Part> part_at(std::size_t position) const;
  void skip_damage(const Part& part);
  void note_damage();
  /// Adds the part to the record; true if that is whole.
  bool take(const Part& part);

  std::ifstream in_;
  std::string block_;
  std::uint64_t block_begin_ = 0; ///< in the file
  std::size_t position_ = 0;      ///< in the block
  std::string record_;
  bool in_record_ = false;
  std::int64_t damaged_ = 0;
  std::uint64_t first_damage_ = 0;
};

} // namespace batchscope::exchange::detail
