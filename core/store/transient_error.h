#pragma once

#include "core/base/error.h"

namespace batchscope::store {

/// An error of the store that a retry may solve: another program has the file locked, or the disk is full.
class TransientError : public Error {
public:
  using Error::Error;
};

/// What was to be read is damaged; what is whole can be saved (care.h).
class DamageError : public Error {
public:
  using Error::Error;
};

} // namespace batchscope::store
