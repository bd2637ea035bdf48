#pragma once

#include <c10/core/ScalarType.h>

namespace batchscope::meta {

/// LibTorch's autocast for `meta`, which LibTorch lacks: while one exists, operators of this thread cast their inputs
/// on `meta` to the types that they have with autocast on `cpu`, or, under Learning::none, on a GPU. Casts of
/// parameters are kept until the outermost scope ends, as LibTorch keeps them. float: no casts.
class AutocastScope {
public:
  explicit AutocastScope(c10::ScalarType type);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

  /// Type of the innermost scope of this thread; float without one.
  static c10::ScalarType type();

private:
  c10::ScalarType before_;
};

} // namespace batchscope::meta
