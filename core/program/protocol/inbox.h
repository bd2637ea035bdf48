#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/program/protocol/link.h"
#include "core/program/protocol/wire.h"

namespace batchscope::program {

/// Messages of one program, each once and in order, although its connection may be lost, lines may wait in its spill
/// file, and several processes of it may connect: rank 0 is listened to, the others are only counted. One thread.
class Inbox {
public:
  class Receiver {
  public:
    virtual ~Receiver() = default;
    /// The program has connected, or can do something else now. Messages that it had spilled came before. Throw Error
    /// (input) to refuse the program.
    virtual void hello(const Hello& hello) = 0;
    /// Any other message. `live`: it has just been sent; otherwise it comes from the spill file, and nobody waits for
    /// an answer.
    virtual void message(const Message& message, bool live) = 0;
    /// Something is wrong with the conversation: a telemetry::ProtocolFault or SecondProgram. Each is reported once.
    virtual void fault(telemetry::EventBody fault) = 0;
    /// Rank 0 is not connected any more. It may come back.
    virtual void gone() = 0;
  };

  /// How far the messages of a program are known already.
  struct Position {
    std::int64_t pid = 0;
    std::int64_t seq = 0;  ///< at least up to here
    std::int64_t step = 0; ///< and the records up to this step
  };

  /// `uid`: of the run; programs of other runs are refused.
  Inbox(Link& link, std::string uid, std::filesystem::path spill, Receiver& receiver);

  /// For a run that goes on: messages up to there are left out.
  void resume(const Position& position) { known_ = position; }
  /// Takes all that has arrived.
  void serve();
  /// Reads what the program has spilled so far; for a program that has ended, too.
  void take_spilled();

  bool connected() const { return program_.has_value(); }
  /// To rank 0. Nothing happens if it is not connected.
  void send(std::string_view line);
  /// Whether rank 0 has not read all lines yet.
  bool is_waiting() const { return program_ && link_.is_waiting(*program_); }

private:
  void take(const Link::Arrival& arrival);
  void take_refused(const Link::Arrival& arrival);
  void drop(Link::Peer peer, const Message& message);
  void take_hello(Link::Peer peer, const Hello& hello);
  void take_numbered(Message& message, bool live);
  void refuse(Link::Peer peer, const std::string& why);
  void report(const std::string& line, telemetry::Reason why);
  std::optional<Message> parsed(const std::string& line);

  Link& link_;
  const std::string uid_;
  const std::filesystem::path spill_;
  Receiver& receiver_;
  std::map<Link::Peer, Hello> hellos_; ///< of the connections that are served
  std::set<Link::Peer> refused_;       ///< what they still say is ignored
  std::optional<Link::Peer> program_;  ///< rank 0
  Position known_;
  std::uintmax_t spill_position_ = 0; ///< bytes taken
  bool reported_protocol_ = false;
  bool reported_second_ = false;
};

} // namespace batchscope::program
