#pragma once

#include <functional>

#include "core/base/error.h"

namespace batchscope::search {

/// Does a part of a search. False if the user has stopped it meanwhile; its error is then that of the stop. `stop` may
/// be empty.
inline bool unless_stopped(const std::function<bool()>& stop, const std::function<void()>& part) {
  try {
    part();
    return true;
  } catch (const Error&) {
    if (!stop || !stop())
      throw;
    return false;
  }
}

} // namespace batchscope::search
