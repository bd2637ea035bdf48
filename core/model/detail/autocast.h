#pragma once

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "core/meta/detail/autocast.h"

namespace batchscope::model {

/// Mixed precision of a forward pass (Micikevicius et al. 2018): while one exists, LibTorch casts the inputs of matrix
/// products, convolutions and attention on `device` to `type`, which is bfloat16 or half; with float it casts nothing.
/// One thread.
class Autocast {
public:
  Autocast(c10::Device device, c10::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  /// The type of the innermost scope of this thread; float without one.
  static c10::ScalarType type_on(c10::Device device);

private:
  c10::Device device_;
  bool changed_, enabled_before_ = false;
  c10::ScalarType before_ = c10::kFloat;
  std::optional<meta::AutocastScope> on_meta_;
};

} // namespace batchscope::model
