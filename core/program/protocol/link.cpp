#include "core/program/protocol/link.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/base/error.h"
#include "core/base/owned_folder.h"
#include "core/program/protocol/wire.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

constexpr const char* folder_prefix = "batchscope-";
constexpr const char* socket_name = "socket";
constexpr std::size_t most_connections = 256;
constexpr std::size_t most_unsent = 16U << 20U;
constexpr std::size_t most_at_once = 1U << 20U;
constexpr std::size_t shown_of_a_long_line = 200;

fs::path runtime_folder() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  return folder && *folder && fs::is_directory(folder, ignored) ? fs::path(folder) : fs::path("/tmp");
}

bool fits_an_address(const fs::path& socket) {
  return socket.native().size() < sizeof(sockaddr_un::sun_path);
}

Error cannot(const std::string& what, const fs::path& path) {
  return {Error::Kind::failed, fmt::format("{} {}: {}", what, path.string(), std::strerror(errno))};
}

/// Removes a folder of this process, or one without an owner.
void remove_folder(const fs::path& folder) {
  ::unlink((folder / socket_name).c_str());
  ::unlink((folder / owner_name).c_str());
  ::rmdir(folder.c_str());
}

Descriptor listen_at(const fs::path& path) {
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener)
    throw cannot("no socket for", path);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  ::unlink(path.c_str()); // of a process that was killed
  // The folder lets nobody else in, so that the mode may be set afterwards.
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 16) != 0)
    throw cannot("cannot listen at", path);
  return listener;
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

} // namespace

fs::path socket_folder(const std::string& uid) {
  const std::string name = folder_prefix + uid;
  const fs::path folder = runtime_folder() / name;
  return fits_an_address(folder / socket_name) ? folder : fs::path("/tmp") / name;
}

void remove_abandoned_sockets() {
  for (const fs::path& root : {runtime_folder(), fs::path("/tmp")})
    for_each_abandoned(root, folder_prefix, remove_folder);
}

Link::Link(const fs::path& folder) : path_(folder / socket_name) {
  if (!fits_an_address(path_))
    throw input_error(fmt::format("the socket's path {} has {} bytes; accepted: at most {}", path_.string(),
                                  path_.native().size(), sizeof(sockaddr_un::sun_path) - 1));
  owner_ = own_folder(folder);
  listener_ = listen_at(path_);
}

Link::~Link() {
  if (owner_)
    remove_folder(path_.parent_path());
}

void Link::add_to(std::vector<pollfd>& waits) const {
  waits.push_back({listener_.get(), POLLIN, 0});
  for (const auto& [peer, connection] : connections_)
    waits.push_back(
        {connection.socket.get(), static_cast<short>(POLLIN | (connection.unsent.empty() ? 0 : POLLOUT)), 0});
}

void Link::accept_all() {
  while (true) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket)
      return;
    if (is_same_user(socket.get()) && connections_.size() < most_connections)
      connections_[++last_peer_].socket = std::move(socket);
  }
}

std::vector<Link::Arrival> Link::serve() {
  accept_all();
  std::vector<Arrival> arrivals;
  has_more_ = false;
  for (auto each = connections_.begin(); each != connections_.end();) {
    const bool alive = flush(each->second) && receive(each->first, each->second, arrivals);
    if (!alive)
      arrivals.push_back({Arrival::Kind::gone, each->first, {}});
    each = alive ? std::next(each) : connections_.erase(each);
  }
  return arrivals;
}

/// False once the connection has ended.
bool Link::receive(Peer peer, Connection& connection, std::vector<Arrival>& arrivals) {
  char data[1 << 16];
  std::size_t taken = 0;
  bool was_reset = false;
  while (taken < most_at_once) {
    const ssize_t size = ::recv(connection.socket.get(), data, sizeof(data), 0);
    if (size > 0) {
      taken += static_cast<std::size_t>(size);
      was_reset = false;
      take(peer, connection, {data, static_cast<std::size_t>(size)}, arrivals);
      continue;
    }
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return true;
    // A program that was killed with lines to read: the error comes once, before the lines that it had sent.
    if (size == 0 || errno != ECONNRESET || was_reset)
      return false;
    was_reset = true;
  }
  has_more_ = true;
  return true;
}

void Link::take(Peer peer, Connection& connection, std::string_view data, std::vector<Arrival>& arrivals) {
  while (!data.empty()) {
    const std::size_t end = data.find('\n');
    const bool whole = end != std::string_view::npos;
    if (!connection.discarding)
      connection.received += data.substr(0, end);
    if (connection.received.size() > longest_line) {
      arrivals.push_back({Arrival::Kind::too_long, peer, connection.received.substr(0, shown_of_a_long_line)});
      connection.received = {};
      connection.discarding = true;
    }
    if (!whole)
      return;
    if (!connection.discarding)
      arrivals.push_back({Arrival::Kind::line, peer, std::move(connection.received)});
    connection.received = {};
    connection.discarding = false;
    data.remove_prefix(end + 1);
  }
}

/// False if the connection has ended.
bool Link::flush(Connection& connection) {
  while (!connection.unsent.empty()) {
    const ssize_t size =
        ::send(connection.socket.get(), connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0) // the end of the connection comes with the next receive()
      return connection.unsent.size() <= most_unsent;
    connection.unsent.erase(0, static_cast<std::size_t>(size));
  }
  return true;
}

void Link::send(Peer peer, std::string_view line) {
  const auto found = connections_.find(peer);
  if (found == connections_.end())
    return;
  found->second.unsent += line;
  flush(found->second);
}

bool Link::is_waiting(Peer peer) const {
  const auto found = connections_.find(peer);
  return found != connections_.end() && !found->second.unsent.empty();
}

} // namespace batchscope::program
