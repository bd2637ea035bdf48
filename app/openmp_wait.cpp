// OpenMP's threads wait for their next work by spinning, for milliseconds. Where another program, or this program's
// own window, wants the same cores, that costs more than the work itself: on two busy cores a training step was seen
// to take 50 times as long. Sleeping costs a few microseconds a wake-up instead.
//
// The OpenMP library reads its settings when it is loaded, so they have to be there before: functions in
// .preinit_array run before those of any shared library. Settings of the user's own are left alone.
#include <cstdlib>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // these start up in the same place

namespace {

void let_openmp_sleep() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && std::getenv("GOMP_SPINCOUNT") == nullptr)
    setenv("OMP_WAIT_POLICY", "passive", 0);
}

__attribute__((section(".preinit_array"), used)) void (*const before_libraries)() = let_openmp_sleep;

} // namespace

#endif
