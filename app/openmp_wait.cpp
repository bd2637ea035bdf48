// OpenMP's threads wait for their next work by spinning, by default for milliseconds. Where other programs want the
// same cores, that costs far more than the work itself. Where they sleep at once instead (OMP_WAIT_POLICY=passive),
// each small kernel pays for a wake-up, and small nets train at a quarter of their speed. A bounded spin, a few
// microseconds, covers the gap between two kernels of a step and gives the core away soon after the last one.
//
// The OpenMP library reads its settings when it is loaded, and nothing can change them later. So the program starts
// itself once more with the setting in its environment, from .preinit_array, which runs before the libraries start up:
// what is done twice is only finding and linking them. Settings of the user's own are left alone.
#include <alloca.h>
#include <cstring>
#include <unistd.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // these start up in the same place

namespace {

bool names(const char* entry, const char* variable) {
  const std::size_t length = std::strlen(variable);
  return std::strncmp(entry, variable, length) == 0 && entry[length] == '=';
}

void bound_openmp_spin(int, char** arguments, char** environment) {
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (names(environment[count], "OMP_WAIT_POLICY") || names(environment[count], "GOMP_SPINCOUNT"))
      return;
  }
  // The C library has not started up either: no allocation, no setenv.
  auto** extended = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
  std::memcpy(extended, environment, count * sizeof(char*));
  static char setting[] = "GOMP_SPINCOUNT=10000"; // rounds; 5,000 to 20,000 are alike, see tests/bench/python_twin.py
  extended[count] = setting;
  extended[count + 1] = nullptr;
  execve("/proc/self/exe", arguments, extended); // where that is refused, things go on as they are
}

__attribute__((section(".preinit_array"), used)) void (*const before_libraries)(int, char**,
                                                                                char**) = bound_openmp_spin;

} // namespace

#endif
