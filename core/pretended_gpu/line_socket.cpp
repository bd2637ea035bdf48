#include "core/pretended_gpu/detail/line_socket.h"

#include <array>
#include <cerrno>

#include <sys/socket.h>

namespace batchscope::pretended_gpu {

std::optional<std::string> LineSocket::receive() {
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    std::array<char, 65536> part{};
    const ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    received_.append(part.data(), static_cast<std::size_t>(count));
  }
}

bool LineSocket::send(const std::string& line) {
  const std::string text = line + '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

} // namespace batchscope::pretended_gpu
