#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/json.h"

namespace batchscope::exchange {

/// A point of a file that another program writes.
struct AddedPoint {
  std::string series; ///< under the name that `import` gives it
  std::int64_t step = 0;
  double value = 0;
};
using AddedPointSink = std::function<void(const AddedPoint&)>;

/// Reads what another program adds to a file or folder, each point once, from where it ended the last time. A file that
/// is written anew is read from its start. One thread.
class SeriesFollower {
public:
  virtual ~SeriesFollower() = default;

  /// Calls `take` for each point that was added since the last call, the first time for all of them, in the order of
  /// the file. A record that is cut off is read once it is whole; a file may not exist yet. Reads a few MB at most;
  /// returns whether there is more. `ended`: the program writes no more. Throws Error (input) naming what is wrong and
  /// where; what was read before it is not read again.
  virtual bool poll(const AddedPointSink& take, bool ended) = 0;

  /// How far it has read, for another follower of the same path.
  virtual Json position() const = 0;
  /// Goes on from there. What is no position() is taken for the start.
  virtual void resume(const Json& position) = 0;
};

} // namespace batchscope::exchange
