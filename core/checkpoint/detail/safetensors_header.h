#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/safetensors.h"

namespace batchscope::checkpoint {

/// A safetensors file begins with the header's length.
inline constexpr std::size_t length_bytes = sizeof(std::uint64_t);
/// A header holds names, shapes and small texts.
inline constexpr std::uint64_t largest_header = 100'000'000;
inline constexpr const char* metadata_name = "__metadata__";

/// The text of a header, padded so that the data begin at a multiple of 8, as the format recommends. The tensors' data
/// follow in their order.
std::string header_text(const Json& metadata, const std::vector<Tensor>& tensors);

/// Bytes of the tensor of a header's entry, from its type and shape; nothing for an unknown type, or if they overflow.
/// Throws what the JSON library throws for an entry of another form.
std::optional<std::uint64_t> bytes_of(const Json& entry);

} // namespace batchscope::checkpoint
