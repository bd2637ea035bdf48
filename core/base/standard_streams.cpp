#include "core/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace batchscope {

void open_standard_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0) // the lowest number that is free is the next file's
      ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace batchscope
