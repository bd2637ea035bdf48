#include "core/base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace batchscope {

namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are read as one number");

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// tables[k][byte]: the checksum of a byte that k zero bytes follow, so that eight bytes are taken at a time.
constexpr Tables make_tables() {
  constexpr std::uint32_t reversed_polynomial = 0x82f63b78;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? reversed_polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}

constexpr Tables tables = make_tables();

} // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t next = 0;
    std::memcpy(&next, bytes.data(), sizeof next);
    next ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k)
      crc ^= tables[7 - k][next >> 8 * k & 0xff];
  }
  for (const char c : bytes)
    crc = crc >> 8 ^ tables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

} // namespace batchscope
