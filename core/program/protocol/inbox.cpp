#include "core/program/protocol/inbox.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/telemetry/message.h"

namespace batchscope::program {

using telemetry::Words;

Inbox::Inbox(Link& link, std::string uid, std::filesystem::path spill, Receiver& receiver)
    : link_(link), uid_(std::move(uid)), spill_(std::move(spill)), receiver_(receiver) {}

void Inbox::serve() {
  for (const Link::Arrival& arrival : link_.serve())
    take(arrival);
}

void Inbox::send(std::string_view line) {
  if (program_)
    link_.send(*program_, line);
}

std::optional<Message> Inbox::parsed(const std::string& line) {
  try {
    return parse(line);
  } catch (const Error& error) {
    report(line, telemetry::because(Words::not_a_message, {{"error", std::string(error.what())}}));
    return std::nullopt;
  }
}

void Inbox::take(const Link::Arrival& arrival) {
  if (arrival.kind == Link::Arrival::Kind::gone) {
    hellos_.erase(arrival.peer);
    refused_.erase(arrival.peer);
    if (program_ == arrival.peer) {
      program_.reset();
      receiver_.gone();
    }
    return;
  }
  if (refused_.contains(arrival.peer))
    return take_refused(arrival);
  if (arrival.kind == Link::Arrival::Kind::too_long)
    return report(arrival.text, telemetry::because(Words::message_too_long,
                                                   {{"most_bytes", static_cast<std::int64_t>(longest_line)}}));
  auto message = parsed(arrival.text);
  if (!message)
    return;
  if (const auto* hello = std::get_if<Hello>(&*message))
    return take_hello(arrival.peer, *hello);
  const auto known = hellos_.find(arrival.peer);
  if (known == hellos_.end())
    return report(arrival.text, telemetry::because(Words::before_hello));
  if (program_ == arrival.peer)
    return take_numbered(*message, true);
  drop(arrival.peer, *message);
}

/// Nothing of it is stored, so that the program need not keep it: else it would spill it where rank 0 does.
void Inbox::drop(Link::Peer peer, const Message& message) {
  if (const std::int64_t seq = seq_of(message); seq > 0 && !link_.is_waiting(peer))
    link_.send(peer, stored_line(seq));
}

/// It may have sent more before it read that it is refused.
void Inbox::take_refused(const Link::Arrival& arrival) {
  if (arrival.kind != Link::Arrival::Kind::line)
    return;
  try {
    drop(arrival.peer, parse(arrival.text));
  } catch (const Error&) {
    // Garbage of a program that is not listened to.
  }
}

void Inbox::take_hello(Link::Peer peer, const Hello& hello) {
  if (hello.protocol != protocol_version)
    return refuse(peer, fmt::format("protocol {} is not known; accepted: {}", hello.protocol, protocol_version));
  if (!hello.run.empty() && hello.run != uid_)
    return refuse(peer, fmt::format("a program of another run, {}", in_quotes(hello.run)));
  const bool taken = std::any_of(hellos_.begin(), hellos_.end(), [&](const auto& other) {
    return other.first != peer && other.second.rank == hello.rank;
  });
  if (taken) {
    refuse(peer, fmt::format("a second program of rank {}", hello.rank));
    if (!std::exchange(reported_second_, true))
      receiver_.fault(telemetry::SecondProgram{.pid = hello.pid, .rank = hello.rank});
    return;
  }
  hellos_[peer] = hello;
  if (hello.rank > 0)
    return link_.send(peer, to_line(Welcome{.run = uid_, .hold = 0}));
  program_ = peer;
  take_spilled(); // of the program before, which counted from 1, too
  if (known_.pid != hello.pid)
    known_ = {.pid = hello.pid};
  try {
    receiver_.hello(hello);
  } catch (const Error& error) {
    refuse(peer, error.what());
    program_.reset();
  }
}

/// The program ends the connection itself: if it found it closed first, it would spill what it had sent.
void Inbox::refuse(Link::Peer peer, const std::string& why) {
  link_.send(peer, refuse_line(why));
  refused_.insert(peer);
  hellos_.erase(peer);
}

void Inbox::take_numbered(Message& message, bool live) {
  if (std::holds_alternative<Spilled>(message))
    return take_spilled();
  const std::int64_t seq = seq_of(message);
  if (seq <= known_.seq && seq > 0)
    return;
  if (seq > known_.seq + 1 && live)
    take_spilled(); // messages before it are there
  if (seq <= known_.seq && seq > 0)
    return;
  known_.seq = std::max(known_.seq, seq);
  if (const auto* step = std::get_if<StepMessage>(&message); step && known_.step > 0) {
    if (step->record.step <= known_.step)
      return;
    known_.step = 0; // from here on all are new
  }
  receiver_.message(message, live);
}

/// The file is only appended to, in whole lines; its last one may still be being written.
void Inbox::take_spilled() {
  std::ifstream file(spill_, std::ios::binary);
  if (!file || !file.seekg(static_cast<std::streamoff>(spill_position_)))
    return;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    spill_position_ += line.size() + 1;
    auto message = parsed(line);
    if (!message)
      continue;
    if (const auto* hello = std::get_if<Hello>(&*message)) {
      if (known_.pid != hello->pid)
        known_ = {.pid = hello->pid};
      if (!connected())
        receiver_.hello(*hello);
    } else {
      take_numbered(*message, false);
    }
  }
}

void Inbox::report(const std::string& line, telemetry::Reason why) {
  if (!std::exchange(reported_protocol_, true))
    receiver_.fault(telemetry::ProtocolFault{.reason = std::move(why), .line = shortened(line)});
}

} // namespace batchscope::program
