#include "core/program/protocol/link.h"

#include <cstring>
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "core/program/protocol/wire.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::program;

namespace {

namespace fs = std::filesystem;

/// A program's end of the socket.
class Peer {
public:
  explicit Peer(const fs::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    connected = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  void send(const std::string& text) { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }
  std::string receive() {
    char text[4096];
    const ssize_t size = ::recv(socket_.get(), text, sizeof(text), 0);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  int fd() const { return socket_.get(); }
  bool connected = false;

private:
  Descriptor socket_;
};

class LinkFolder {
public:
  fs::path path() const { return fs::path(folder_.path().toStdString()) / "run"; }

private:
  QTemporaryDir folder_;
};

std::vector<Link::Arrival> arrivals_of(Link& link) {
  std::vector<Link::Arrival> all;
  do {
    for (auto& arrival : link.serve())
      all.push_back(std::move(arrival));
  } while (link.has_more());
  return all;
}

} // namespace

/// Lines of several programs arrive whole and in order, whatever else is written; nothing stays of the socket.
class TestLink : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void onlyTheUserMayConnect() {
    const LinkFolder folder;
    {
      const Link link(folder.path());
      struct stat of_folder {
      }, of_socket{};
      QCOMPARE(::stat(folder.path().c_str(), &of_folder), 0);
      QCOMPARE(::stat(link.path().c_str(), &of_socket), 0);
      QCOMPARE(of_folder.st_mode & 0777U, 0700U);
      QCOMPARE(of_socket.st_mode & 0777U, 0600U);
    }
    QVERIFY(!fs::exists(folder.path()));
  }

  void linesArriveWhole() {
    const LinkFolder folder;
    Link link(folder.path());
    Peer one(link.path()), two(link.path());
    QVERIFY(one.connected && two.connected);
    one.send("first\nsec");
    two.send("other\n");
    auto arrivals = arrivals_of(link);
    QCOMPARE(arrivals.size(), 2U);
    QCOMPARE(arrivals[0].text, std::string("first"));
    QCOMPARE(arrivals[1].text, std::string("other"));
    QVERIFY(arrivals[0].peer != arrivals[1].peer);
    one.send("ond\n\nhalf a line");
    const auto peer = arrivals[0].peer;
    arrivals = arrivals_of(link);
    QCOMPARE(arrivals.at(0).text, std::string("second"));
    QCOMPARE(arrivals.at(0).peer, peer);
    QCOMPARE(arrivals.at(1).text, std::string());
    link.send(peer, "answer\n");
    QCOMPARE(one.receive(), std::string("answer\n"));
    link.send(99, "to nobody\n");
  }

  void whatAProgramSentBeforeItDiedArrives() {
    const LinkFolder folder;
    Link link(folder.path());
    auto program = std::make_unique<Peer>(link.path());
    program->send("hello\n");
    const auto peer = arrivals_of(link).at(0).peer;
    for (int i = 0; i < 100; ++i)
      link.send(peer, "never read\n"); // so that its end resets the connection
    program->send("one\ntwo\nhalf");
    program.reset();
    const auto arrivals = arrivals_of(link);
    QCOMPARE(arrivals.size(), 3U);
    QCOMPARE(arrivals[1].text, std::string("two"));
    QVERIFY(arrivals[2].kind == Link::Arrival::Kind::gone);
  }

  void aLineWithoutEndIsSkipped() {
    const LinkFolder folder;
    Link link(folder.path());
    Peer program(link.path());
    QCOMPARE(::fcntl(program.fd(), F_SETFL, O_NONBLOCK), 0);
    std::string rest = std::string(longest_line + 10, 'x') + "\nafter\n";
    std::vector<Link::Arrival> arrivals;
    while (!rest.empty()) {
      const ssize_t size = ::send(program.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
      rest.erase(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
      for (auto& arrival : arrivals_of(link))
        arrivals.push_back(std::move(arrival));
    }
    for (auto& arrival : arrivals_of(link))
      arrivals.push_back(std::move(arrival));
    QCOMPARE(arrivals.size(), 2U);
    QVERIFY(arrivals[0].kind == Link::Arrival::Kind::too_long && arrivals[0].text.size() < 1000);
    QCOMPARE(arrivals[1].text, std::string("after"));
  }

  void aProgramThatReadsNothingCostsNoWaiting() {
    const LinkFolder folder;
    Link link(folder.path());
    Peer program(link.path());
    program.send("hello\n");
    const auto peer = arrivals_of(link).at(0).peer;
    const std::string line(1 << 20, 'y');
    for (int i = 0; i < 20; ++i)
      link.send(peer, line);
    QVERIFY(link.is_waiting(peer));
    const auto arrivals = arrivals_of(link);
    QCOMPARE(arrivals.size(), 1U);
    QVERIFY(arrivals[0].kind == Link::Arrival::Kind::gone);
  }

  void onlyOneListens() {
    const LinkFolder folder;
    const Link link(folder.path());
    QVERIFY_THROWS_EXCEPTION(Error, std::make_unique<Link>(folder.path()));
    QVERIFY(Peer(link.path()).connected);
  }

  void takesOverFromAKilledProcess() {
    const LinkFolder folder;
    fs::create_directory(folder.path());
    std::ofstream(folder.path() / "socket") << "left behind";
    std::ofstream(folder.path() / "owner");
    const Link link(folder.path());
    QVERIFY(Peer(link.path()).connected);
  }

  void aPathThatIsTooLongIsRefused() {
    const QTemporaryDir folder;
    const fs::path path = fs::path(folder.path().toStdString()) / std::string(120, 'p');
    QVERIFY_THROWS_EXCEPTION(Error, std::make_unique<Link>(path));
    QVERIFY(!fs::exists(path));
    QVERIFY(socket_folder("0123456789abcdef0123456789abcdef").native().size() < 100);
  }

  void abandonedFoldersAreRemoved() {
    const QTemporaryDir root;
    qputenv("XDG_RUNTIME_DIR", root.path().toUtf8());
    const fs::path abandoned = socket_folder("abandoned");
    fs::create_directory(abandoned);
    std::ofstream(abandoned / "socket");
    std::ofstream(abandoned / "owner");
    const fs::path foreign = fs::path(root.path().toStdString()) / "batchscope-notes"; // no socket's folder
    fs::create_directory(foreign);
    const Link used(socket_folder("used"));
    remove_abandoned_sockets();
    QVERIFY(!fs::exists(abandoned));
    QVERIFY(fs::exists(foreign));
    QVERIFY(Peer(used.path()).connected);
  }
};

BATCHSCOPE_TEST(TestLink)
#include "tst_link.moc"
