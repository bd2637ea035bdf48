#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "core/base/descriptor.h"

namespace batchscope::program {

/// The socket's folder of a run, which programs find by the run's uid: FOLDER/batchscope-UID, where FOLDER is
/// $XDG_RUNTIME_DIR or /tmp. The path of the socket in it has at most 107 bytes.
std::filesystem::path socket_folder(const std::string& uid);

/// Removes the sockets that BatchScopes which were killed have left in the folders above; leaves those in use alone.
void remove_abandoned_sockets();

/// A Unix stream socket on which training programs connect, and the lines that arrive. Only programs of the same user
/// are served. The folder has mode 0700 and the socket 0600; the destructor removes both. One thread.
class Link {
public:
  /// Makes the folder, or takes over one that a killed process has left. Throws Error: input if a living process uses
  /// it, failed if it cannot be made.
  explicit Link(const std::filesystem::path& folder);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const std::filesystem::path& path() const { return path_; } ///< of the socket

  using Peer = std::int64_t; ///< a connection; numbers are not used again
  struct Arrival {
    enum class Kind {
      line,     ///< `text` is one, without its LF
      too_long, ///< a line above longest_line was skipped; `text` is its beginning
      gone,     ///< the connection has ended; all its whole lines came before
    } kind = Kind::line;
    Peer peer = 0;
    std::string text;
  };

  /// Adds what poll() has to wait for.
  void add_to(std::vector<pollfd>& waits) const;
  /// Accepts connections, sends what waits, and returns what has arrived, oldest first for each connection, at most
  /// about 1 MiB of each. Never waits.
  std::vector<Arrival> serve();
  /// Whether serve() left bytes unread because of that limit.
  bool has_more() const { return has_more_; }

  /// Sends a line now or when the program reads again. Nothing happens if the connection has ended. A program that has
  /// left 16 MiB unread is disconnected.
  void send(Peer peer, std::string_view line);
  /// Whether lines wait for the program to read.
  bool is_waiting(Peer peer) const;

private:
  struct Connection {
    Descriptor socket;
    std::string received; ///< of the line that is not complete
    bool discarding = false;
    std::string unsent;
  };

  void accept_all();
  bool receive(Peer peer, Connection& connection, std::vector<Arrival>& arrivals);
  void take(Peer peer, Connection& connection, std::string_view data, std::vector<Arrival>& arrivals);
  bool flush(Connection& connection);

  std::filesystem::path path_;
  Descriptor owner_; ///< of the folder: a locked file in it
  Descriptor listener_;
  std::map<Peer, Connection> connections_;
  Peer last_peer_ = 0;
  bool has_more_ = false;
};

} // namespace batchscope::program
