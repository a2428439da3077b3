//===- Rendezvous.cpp - How the processes of a run find each other --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Rendezvous.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace weir::collectives {
namespace {

using Clock = Channel::Clock;
using Kind = Message::Kind;
using std::chrono::seconds;

/// Grows with every change of what is said.
constexpr uint32_t protocol = 3;
/// For a stranger to say who it is.
constexpr seconds toProve(5);
/// Where nothing answers at all.
constexpr seconds toConnect(2);
constexpr size_t mostVisitors = 128;
/// To who may be taken when it comes again.
constexpr Exit later = Exit::requeue;

bool isSame(const std::string &one, const std::string &other) {
  unsigned char difference = one.size() != other.size();
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

/// The generation that who says hello was of.
int64_t lastOf(const Message &hello) {
  int64_t last = 0;
  if (hello.parts.size() == 1)
    std::from_chars(hello.parts[0].data(), hello.parts[0].data() + hello.parts[0].size(), last);
  return last;
}

/// What proves that who comes knows the secret; "" where there is none.
std::string proof(const Meeting &meeting, const LinksPlugin &crypto, const Message &hello,
                  const std::string &challenge) {
  return meeting.secret.empty()
             ? ""
             : crypto.hmac(meeting.secret,
                           concat("weir rank ", hello.rank, " of ", hello.size, " ", hello.nonce,
                                  challenge, lastOf(hello), " ", hello.text));
}

/// What proves that an answer to a hello comes from rank 0: a welcome, or a refusal and its words.
std::string proofOfDoor(const Meeting &meeting, const LinksPlugin &crypto, const Message &hello,
                        const std::string &challenge, const Message &answer) {
  return meeting.secret.empty()
             ? ""
             : crypto.hmac(meeting.secret,
                           concat("weir door ", hello.rank, " ", challenge, hello.nonce, " ",
                                  int(answer.kind), " ", answer.status, " ", answer.text));
}

} // namespace

Door::Door(const Meeting &meeting, const LinksPlugin &crypto)
    : meeting(meeting), crypto(crypto), newest(meeting.last) {
  std::vector<Endpoint> endpoints = Endpoint::of(meeting);
  for (int next = meeting.port; next < meeting.port + rendezvousPorts && next < 1 << 16; ++next) {
    int reason = 0;
    for (const Endpoint &one : endpoints) {
      listening = one.listen(uint16_t(next), int(mostVisitors));
      reason = errno;
      endpoint = one;
      port = uint16_t(next);
      if (listening >= 0)
        return;
      if (reason != EADDRNOTAVAIL)
        break;
    }
    if (reason == EADDRNOTAVAIL)
      throw Failure(Exit::usage, concat("rank 0 runs here, and its address, ", meeting.host, " (",
                                        address(), "), is not one of this machine's"));
    if (reason != EADDRINUSE && reason != EACCES)
      throw Failure(Exit::device,
                    concat("rank 0 cannot listen at ", place(), ": ", std::strerror(reason)));
  }
  throw Failure(Exit::peer, concat("rank 0 finds no free port at ", address(), " from ",
                                   meeting.port, " to ", meeting.port + rendezvousPorts - 1));
}

Door::~Door() { close(listening); }

std::string Door::place() const { return endpoint.place(port); }

std::vector<int64_t> Door::missing() const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 1; rank < meeting.size; ++rank)
    if (!here.contains(rank))
      ranks.push_back(rank);
  return ranks;
}

void Door::await(std::vector<pollfd> &files) const {
  if (visitors.size() < mostVisitors)
    files.push_back({listening, POLLIN, 0});
  for (const Visitor &visitor : visitors)
    files.push_back({visitor.channel->socket(), POLLIN, 0});
}

bool Door::hear(Visitor &visitor, const Message &hello,
                std::map<int64_t, std::unique_ptr<Channel>> &admitted) {
  auto refuse = [&](Exit exit, const std::string &why) {
    visitor.channel->put({.kind = Kind::refused, .status = uint32_t(exit), .text = why});
    return true;
  };
  auto answer = [&](Message message) {
    message.code = proofOfDoor(meeting, crypto, hello, visitor.nonce, message);
    visitor.channel->put(message);
    return true;
  };
  if (hello.kind != Kind::hello || hello.status != protocol || hello.text != meeting.job)
    return refuse(Exit::ok, "this is another job");
  if (!isSame(hello.code, proof(meeting, crypto, hello, visitor.nonce)))
    return refuse(Exit::usage, "the secret is another one than rank 0's (WEIR_JOB_SECRET_FILE)");
  if (hello.size != meeting.size || hello.rank == 0 || hello.rank >= meeting.size)
    return answer({.kind = Kind::refused,
                   .status = uint32_t(Exit::usage),
                   .text = concat("this is rank ", hello.rank, " of ", hello.size,
                                  ", and rank 0 is one of ", meeting.size)});
  newest = std::max(newest, lastOf(hello));
  if (here.contains(hello.rank))
    return answer(answerAgain(hello.rank, lastOf(hello)));
  visitor.channel->trust();
  answer({.kind = Kind::welcome});
  here[hello.rank] = true;
  admitted[hello.rank] = std::move(visitor.channel);
  return true;
}

/// To who comes as a rank that is here.
Message Door::answerAgain(int64_t rank, int64_t last) {
  auto refusal = [](Exit exit, const std::string &why) {
    return Message{.kind = Kind::refused, .status = uint32_t(exit), .text = why};
  };
  if (!generation && !newest)
    return refusal(Exit::usage, concat("there is another rank ", rank, " of this run already"));
  if (generation && last >= generation) {
    again.push_back(rank);
    return refusal(later, concat("generation ", generation, " ends"));
  }
  if (generation && last)
    return refusal(Exit::peer, concat("generation ", last, " is over, and generation ", generation,
                                      " has another rank ", rank));
  return refusal(later, concat("there is a rank ", rank, " that is alive"));
}

std::map<int64_t, std::unique_ptr<Channel>> Door::admit() {
  std::map<int64_t, std::unique_ptr<Channel>> admitted;
  while (visitors.size() < mostVisitors) {
    int socket = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0)
      break;
    if (endpoint.stranger(socket)) {
      close(socket);
      continue;
    }
    Visitor visitor{std::make_unique<Channel>(socket), crypto.random(Message::mostNonce),
                    Clock::now() + toProve};
    visitor.channel->put({.kind = Kind::challenge, .nonce = visitor.nonce});
    visitors.push_back(std::move(visitor));
  }
  std::erase_if(visitors, [&](Visitor &visitor) {
    bool isOpen = visitor.channel->move();
    if (auto message = visitor.channel->take())
      return hear(visitor, *message, admitted);
    return !isOpen || Clock::now() > visitor.until;
  });
  return admitted;
}

namespace {

/// That who answers will not have this rank, or is not rank 0.
struct Refusal {
  Exit exit;
  std::string words;
  bool isProved; ///< by who knows the secret, where there is one
};

/// What a rank has been told.
struct Heard {
  std::string later;              ///< why rank 0 does not take it yet, or ""
  std::optional<Refusal> refusal; ///< of the last round; a proved one before others

  void refused(Refusal one) {
    if (!refusal || (one.isProved && !refusal->isProved))
      refusal = std::move(one);
  }
};

/// A rank's try at one place where rank 0 may be.
class Visit {
public:
  Visit(const Meeting &meeting, const LinksPlugin &crypto, const Endpoint &endpoint, uint16_t port)
      : meeting(meeting), crypto(crypto), endpoint(endpoint), port(port),
        connecting(endpoint.connect(port)), until(Clock::now() + toConnect) {}
  Visit(Visit &&other) noexcept
      : meeting(other.meeting), crypto(other.crypto), endpoint(other.endpoint), port(other.port),
        connecting(std::exchange(other.connecting, -1)), channel(std::move(other.channel)),
        hello(std::move(other.hello)), challenge(std::move(other.challenge)), until(other.until) {}
  Visit &operator=(Visit &&) = delete;
  ~Visit() {
    if (connecting >= 0)
      close(connecting);
  }

  /// Else nobody listens there.
  bool isUnderWay() const { return connecting >= 0 || channel; }
  enum class State { goesOn, isOver, isWelcome };
  /// What to wait for; a file of -1 where it is over.
  pollfd awaited() const {
    if (channel)
      return {channel->socket(), short(POLLIN | (channel->isSending() ? POLLOUT : 0)), 0};
    return {connecting, POLLOUT, 0};
  }
  /// Does what there is to do; `events` are what has come of what was awaited. A refusal ends this
  /// visit alone: rank 0 may be at another port.
  State goOn(short events, Heard &heard) {
    if (!channel && connecting >= 0 && events)
      connected(heard);
    if (!channel)
      return connecting < 0 || Clock::now() > until ? State::isOver : State::goesOn;
    bool isOpen = channel->move();
    while (auto message = channel->take())
      if (State state = hear(*message, heard); state != State::goesOn)
        return state;
    return isOpen && Clock::now() <= until ? State::goesOn : State::isOver;
  }

  Entered entered() {
    channel->trust();
    std::string own = endpoint.ownAddress(channel->socket());
    return {std::move(channel), place(), own};
  }

private:
  std::string place() const { return endpoint.place(port); }

  void connected(Heard &heard) {
    int error = 0, socket = std::exchange(connecting, -1);
    socklen_t size = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    std::optional<uid_t> stranger = error ? std::nullopt : endpoint.stranger(socket);
    if (stranger)
      heard.later = concat(": who listens at ", place(), " is a process of another user (uid ",
                           *stranger, "), and not rank 0");
    if (error || stranger) {
      close(socket);
      return;
    }
    channel = std::make_unique<Channel>(socket);
    until = Clock::now() + toProve;
  }

  State hear(const Message &message, Heard &heard) {
    if (hello.nonce.empty()) {
      if (message.kind != Kind::challenge)
        return State::isOver;
      challenge = message.nonce;
      hello = {.kind = Kind::hello,
               .rank = uint32_t(meeting.rank),
               .size = uint32_t(meeting.size),
               .status = protocol,
               .text = meeting.job,
               .nonce = crypto.random(Message::mostNonce),
               .parts = {std::to_string(meeting.last)}};
      hello.code = proof(meeting, crypto, hello, challenge);
      channel->put(hello);
      until = Clock::now() + toProve;
      return State::goesOn;
    }
    bool isProved = isSame(message.code, proofOfDoor(meeting, crypto, hello, challenge, message));
    if (message.kind == Kind::refused)
      refused(message, isProved, heard);
    else if (message.kind == Kind::welcome && isProved)
      return State::isWelcome;
    else if (message.kind == Kind::welcome)
      heard.refused(
          {Exit::usage,
           concat("who listens at ", place(), " does not know the job's secret, and is not rank 0"),
           false});
    return State::isOver;
  }

  void refused(const Message &message, bool isProved, Heard &heard) {
    if (message.status == uint32_t(later))
      heard.later = concat(", which says at ", place(), ": ", message.text);
    else if (message.status != uint32_t(Exit::ok))
      heard.refused({message.status == uint32_t(Exit::peer) ? Exit::peer : Exit::usage,
                     concat(isProved ? "rank 0 at " : "who listens at ", place(), " refuses rank ",
                            meeting.rank, ": ", message.text),
                     isProved});
  }

  const Meeting &meeting;
  const LinksPlugin &crypto;
  const Endpoint &endpoint;
  const uint16_t port;
  int connecting; ///< a socket, until it is connected; -1: none
  std::unique_ptr<Channel> channel;
  Message hello; ///< once it was sent
  std::string challenge;
  Clock::time_point until;
};

/// Goes on with all of them side by side. Nothing where none is welcome until then.
std::optional<Entered> firstWelcome(std::vector<Visit> &visits, Clock::time_point until,
                                    Heard &heard) {
  while (!visits.empty() && Clock::now() < until) {
    std::vector<pollfd> files;
    for (const Visit &visit : visits)
      files.push_back(visit.awaited());
    poll(files.data(), files.size(), 100);
    std::vector<Visit> left;
    for (size_t i = 0; i < visits.size(); ++i) {
      Visit::State state = visits[i].goOn(files[i].revents, heard);
      if (state == Visit::State::isWelcome)
        return visits[i].entered();
      if (state == Visit::State::goesOn)
        left.push_back(std::move(visits[i]));
    }
    visits.swap(left);
  }
  return std::nullopt;
}

[[noreturn]] void fail(const Refusal &refusal) {
  if (refusal.exit == Exit::peer)
    throw NotMet(refusal.exit, refusal.words);
  throw Failure(refusal.exit, refusal.words);
}

} // namespace

Entered enter(const Meeting &meeting, const LinksPlugin &crypto) {
  const auto began = Clock::now(), until = began + meeting.patience;
  std::vector<Endpoint> endpoints;
  Heard heard;
  do {
    try {
      if (endpoints.empty() || meeting.last)
        endpoints = Endpoint::of(meeting);
    } catch (const Failure &) {
      if (!meeting.last)
        throw;
      endpoints.clear(); // the name of a host that is not there again yet
    }
    if (endpoints.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      continue;
    }
    // Side by side: what is silent keeps nobody from the one that answers.
    heard.refusal.reset();
    std::vector<Visit> visits;
    for (int port = meeting.port; port < meeting.port + rendezvousPorts && port < 1 << 16; ++port)
      for (const Endpoint &endpoint : endpoints)
        if (Visit visit(meeting, crypto, endpoint, uint16_t(port)); visit.isUnderWay())
          visits.push_back(std::move(visit));
    if (std::optional<Entered> entered = firstWelcome(visits, until, heard))
      return std::move(*entered);
    // Rank 0's own refusal ends this rank at once. Anybody who listens at one of the ports can send
    // one without proof, be it rank 0 with another secret: it counts once rank 0 has had the time
    // to begin. A rank that has met rank 0 before knows the right secret, and looks on.
    if (heard.refusal &&
        (heard.refusal->isProved || (!meeting.last && Clock::now() > began + meeting.lateness)))
      fail(*heard.refusal);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (Clock::now() < until);
  if (heard.refusal)
    fail(*heard.refusal);
  if (!heard.later.empty())
    throw NotMet(Exit::peer, concat("rank ", meeting.rank, " is not taken by rank 0", heard.later));
  bool isHere = !endpoints.empty() && endpoints[0].isThisMachine();
  const char *network = !isHere                 ? ""
                        : meeting.trustsNetwork ? ", with --trust-network as this rank was"
                                                : ", without --trust-network as this rank was";
  throw NotMet(Exit::peer, concat("rank ", meeting.rank, " has found no rank 0 of this job at ",
                                  endpoints.empty() ? concat(meeting.host, ":", meeting.port)
                                                    : endpoints[0].place(meeting.port),
                                  " or the ", rendezvousPorts - 1, " ports behind it for ",
                                  std::chrono::duration_cast<seconds>(meeting.patience).count(),
                                  " s: was it started, with the same address and by the same user",
                                  network, ", and does nothing keep connections out?"));
}

} // namespace weir::collectives
