#pragma once

#include <cstdint>

namespace batchscope {

/// The product, or the largest (for factors of different signs, the smallest) number if it is beyond it.
inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

} // namespace batchscope
