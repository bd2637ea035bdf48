#include "core/run/engine.h"

#include <cstdlib>

#include "core/base/part.h"
#include "core/run/detail/engine_library.h"

namespace batchscope::run {

Engine& engine() {
  static const auto entry =
      reinterpret_cast<detail::EngineEntry>(load_part(detail::engine_library, detail::engine_entry));
  return *entry();
}

std::unique_ptr<Session> open_session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool) {
  return engine().open_session(spec, pool);
}

// By default idle OpenMP threads spin for milliseconds. If other programs want the same cores, that costs far more than
// the work itself. If idle threads sleep at once (OMP_WAIT_POLICY=passive), each small kernel pays for a wake-up, and
// small networks train at a quarter of the speed. A bounded spin of a few microseconds covers the gap between two
// kernels of a step and releases the core soon after the last one.
// No linked library may need OpenMP: it would read its settings before main().
void set_openmp_wait() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr)
    ::setenv("GOMP_SPINCOUNT", "10000", 0); // iterations; 5,000 to 20,000 perform alike, see tests/bench/python_twin.py
}

} // namespace batchscope::run
