#pragma once

#include <optional>
#include <string>

namespace batchscope::pretended_gpu {

/// Questions and answers on a socket between two processes, a line each. It does not own the socket. One thread.
class LineSocket {
public:
  explicit LineSocket(int socket) : socket_(socket) {}

  /// The next line without its end; nothing once the other has gone.
  std::optional<std::string> receive();
  /// False if the other has gone.
  bool send(const std::string& line);

private:
  int socket_;
  std::string received_; ///< beyond the last line
};

} // namespace batchscope::pretended_gpu
