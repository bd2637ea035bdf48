#pragma once

#include <memory>

#include "core/run/session.h"

namespace batchscope::run {

/// All of the program that needs LibTorch, behind one door. It is a library of its own, loaded when it is first asked
/// for (about 0.3 s): what only looks at runs never needs it.
class Engine {
public:
  virtual ~Engine() = default;
  /// With `pool` the data are shared with others who use them.
  /// Throws Error: input (bad spec, bad data), unavailable (device), failed (budget below the model itself).
  virtual std::unique_ptr<Session> open_session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool) = 0;
  virtual int threads() const = 0; ///< of the host that it computes with
};

/// The engine, loaded by now. Throws Error (unavailable) where its library or one that it needs cannot be loaded.
/// Any thread.
Engine& engine();

/// engine().open_session().
std::unique_ptr<Session> open_session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool = nullptr);

/// Puts how long OpenMP's threads spin into the environment, where the user has not: they read it as the engine is
/// loaded, and nothing can change it later. In main(), before there is a second thread.
void set_openmp_wait();

} // namespace batchscope::run
