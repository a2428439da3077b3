//===- Rendezvous.cpp - How the processes of a run find each other --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Rendezvous.h"
#include "support/Error.h"
#include "support/Text.h"
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

/// For a stranger to say who it is.
constexpr seconds toProve(5), toProveInACrowd(1);
/// Where nothing answers at all.
constexpr seconds toConnect(2);
constexpr size_t mostVisitors = 128; ///< a crowd
/// Where there is no file for who comes.
constexpr std::chrono::milliseconds betweenWelcomes(100);
/// To who may be taken when it comes again.
constexpr Exit later = Exit::requeue;

int64_t wholeSeconds(std::chrono::milliseconds time) {
  return std::chrono::duration_cast<seconds>(time).count();
}

/// What who says hello says besides: the generation that it was of, and the port that it has
/// called.
std::vector<std::string> besides(int64_t last, uint16_t port) {
  return {std::to_string(last), std::to_string(port)};
}
int64_t numberIn(const Message &hello, size_t part) {
  int64_t number = 0;
  if (hello.parts.size() == 2)
    std::from_chars(hello.parts[part].data(), hello.parts[part].data() + hello.parts[part].size(),
                    number);
  return number;
}
int64_t lastOf(const Message &hello) { return numberIn(hello, 0); }
int64_t portOf(const Message &hello) { return numberIn(hello, 1); }

/// Null where there is no secret.
std::unique_ptr<SecureStream> secured(SecureStream::End end, const Meeting &meeting,
                                      const LinksPlugin &crypto) {
  if (meeting.secret.empty())
    return nullptr;
  try {
    return crypto.secure(end, meeting.secret, secretName(meeting.job));
  } catch (const std::exception &error) {
    throw Failure(Exit::device,
                  concat("cannot set up authentication with the secret (WEIR_JOB_SECRET_FILE): ",
                         error.what()));
  }
}

} // namespace

/// A secret opens nothing of another job or protocol.
std::string secretName(const std::string &job) {
  return concat("weir ", rendezvousProtocol, " ", job);
}

RendezvousServer::RendezvousServer(const Meeting &meeting, const LinksPlugin &crypto)
    : meeting(meeting), crypto(crypto), newest(meeting.last) {
  std::vector<Endpoint> endpoints = Endpoint::of(meeting);
  secured(SecureStream::End::server, meeting, crypto); // it fails here, or for nobody who comes
  bool isTaken = false;
  for (int next = meeting.port; next < meeting.port + rendezvousPorts && next < 1 << 16; ++next) {
    int reason = 0;
    for (const Endpoint &one : endpoints) {
      listening = one.listen(uint16_t(next), SOMAXCONN);
      reason = errno;
      endpoint = one;
      port = uint16_t(next);
      if (listening >= 0) {
        if (isTaken)
          sayWhereElse();
        return;
      }
      isTaken |= reason == EADDRINUSE;
      if (reason != EADDRNOTAVAIL)
        break;
    }
    if (reason == EADDRNOTAVAIL)
      throw Failure(Exit::usage,
                    concat("rank 0 runs on this machine, but its address, ", meeting.host, " (",
                           address(), "), is not an address of this machine"));
    if (reason != EADDRINUSE && reason != EACCES)
      throw Failure(Exit::device,
                    concat("rank 0 cannot listen at ", place(), ": ", std::strerror(reason)));
  }
  throw Failure(Exit::peer, concat("rank 0 found no free port at ", address(), " from ",
                                   meeting.port, " to ", meeting.port + rendezvousPorts - 1));
}

/// Another run's rank 0 as a rule; or who wants to be taken for this one.
void RendezvousServer::sayWhereElse() const {
  const char *apart =
      !meeting.secret.empty() ? "the other ranks identify it by the secret"
      : meeting.trustsNetwork
          ? "with --trust-network the other ranks may mistake that program for rank 0"
          : "the other ranks identify it by its user and the job";
  meeting.warn(concat("another program uses the port of rank 0, ", endpoint.place(meeting.port),
                      ": rank 0 listens at ", place(), " instead; ", apart));
}

RendezvousServer::~RendezvousServer() { close(listening); }

std::string RendezvousServer::place() const { return endpoint.place(port); }

std::vector<int64_t> RendezvousServer::missing() const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 1; rank < meeting.size; ++rank)
    if (!here.contains(rank))
      ranks.push_back(rank);
  return ranks;
}

void RendezvousServer::await(std::vector<pollfd> &files) const {
  if (visitors.size() < mostVisitors && Clock::now() >= nextWelcome)
    files.push_back({listening, POLLIN, 0});
  for (const Visitor &visitor : visitors)
    files.push_back({visitor.channel->socket(),
                     short(POLLIN | (visitor.channel->isSending() ? POLLOUT : 0)), 0});
}

bool RendezvousServer::hear(Visitor &visitor, const Message &hello,
                            std::map<int64_t, std::unique_ptr<Channel>> &admitted) {
  auto answer = [&](const Message &message) {
    visitor.channel->put(message);
    return true;
  };
  if (hello.kind != Kind::hello || hello.status != rendezvousProtocol || hello.text != meeting.job)
    return answer(
        {.kind = Kind::refused, .status = uint32_t(Exit::ok), .text = "this is another job"});
  // Another program listens where the rank has called, and passes on what both say: it could end
  // the run whenever it likes. The rank finds this port by itself.
  if (portOf(hello) != port)
    return answer(
        {.kind = Kind::refused, .status = uint32_t(Exit::ok), .text = "this is another port"});
  if (hello.size != meeting.size || hello.rank == 0 || hello.rank >= meeting.size)
    return answer({.kind = Kind::refused,
                   .status = uint32_t(Exit::usage),
                   .text = concat("this process is rank ", hello.rank, " of ", hello.size,
                                  ", but rank 0 is one of ", meeting.size)});
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
Message RendezvousServer::answerAgain(int64_t rank, int64_t last) {
  auto refusal = [](Exit exit, const std::string &why) {
    return Message{.kind = Kind::refused, .status = uint32_t(exit), .text = why};
  };
  if (!generation && !newest)
    return refusal(Exit::usage,
                   concat("another process has already joined this run as rank ", rank));
  if (generation && last >= generation) {
    again.push_back(rank);
    return refusal(later, concat("generation ", generation, " is ending"));
  }
  if (generation && last)
    return refusal(Exit::peer, concat("generation ", last, " has ended, and generation ",
                                      generation, " has another process as rank ", rank));
  return refusal(later, concat("rank ", rank, " of this run is still alive"));
}

void RendezvousServer::doubt(const Visitor &visitor) {
  SecureStream::Fault fault = visitor.channel->fault();
  if (fault == SecureStream::Fault::notTls)
    visitor.channel->putInTheClear(
        {.kind = Kind::refused,
         .status = uint32_t(Exit::usage),
         .text = "rank 0 has a secret, but this rank has none (WEIR_JOB_SECRET_FILE)"});
  if (fault == SecureStream::Fault::otherSecret && !std::exchange(hasDoubted, true))
    meeting.warn(concat(
        "rank 0 rejected a process at ", endpoint.otherAddress(visitor.channel->socket()),
        ", which tried to join this job with a secret other than rank 0's (WEIR_JOB_SECRET_FILE)"));
}

std::map<int64_t, std::unique_ptr<Channel>> RendezvousServer::admit() {
  std::map<int64_t, std::unique_ptr<Channel>> admitted;
  // A bound for strangers of this machine, too, who are sent away at once: the lock is held.
  for (size_t come = 0; come < mostVisitors && visitors.size() < mostVisitors; ++come) {
    int socket = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      if (errno == EMFILE || errno == ENFILE) // poll() would come back at once
        nextWelcome = Clock::now() + betweenWelcomes;
      break;
    }
    if (endpoint.stranger(socket)) {
      close(socket);
      continue;
    }
    try {
      auto secure = secured(SecureStream::End::server, meeting, crypto);
      visitors.push_back({std::make_unique<Channel>(socket, std::move(secure)), Clock::now()});
    } catch (const Failure &) { // there is no memory: it comes again
      close(socket);
    }
  }
  auto limit = visitors.size() < mostVisitors ? toProve : toProveInACrowd;
  std::erase_if(visitors, [&](Visitor &visitor) {
    bool isOpen = visitor.channel->move();
    if (auto message = visitor.channel->take())
      return hear(visitor, *message, admitted);
    if (!isOpen)
      doubt(visitor);
    return !isOpen || Clock::now() > visitor.since + limit;
  });
  return admitted;
}

namespace {

/// That rank 0 will not have this rank.
struct Refusal {
  Exit exit;
  std::string words;
};

/// What a rank has been told, and what it has found in rank 0's place; "" where nothing.
struct Heard {
  std::string later;              ///< why rank 0 does not take it yet
  bool hasMet = false;            ///< who said so is rank 0, where there is a secret
  std::optional<Refusal> refusal; ///< of the last round
  // Of any round: rank 0 may give up before this rank does.
  std::string otherSecret; ///< who has one
  std::string stranger;    ///< who proves nothing
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
        isProved(other.isProved), until(other.until) {}
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
    if (channel->isProved() && !std::exchange(isProved, true))
      until = Clock::now() + toProve;
    if (auto message = channel->take())
      return hear(*message, heard);
    if (!isOpen && !isProved)
      doubt(heard);
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
      heard.later = concat(": the process that listens at ", place(),
                           " belongs to another user (uid ", *stranger, "), so it is not rank 0");
    if (error || stranger) {
      close(socket);
      return;
    }
    channel =
        std::make_unique<Channel>(socket, secured(SecureStream::End::client, meeting, crypto));
    until = Clock::now() + toProve;
    channel->put({.kind = Kind::hello,
                  .rank = uint32_t(meeting.rank),
                  .size = uint32_t(meeting.size),
                  .status = rendezvousProtocol,
                  .text = meeting.job,
                  .parts = besides(meeting.last, port)});
  }

  /// What is heard has been proved, where there is a secret.
  State hear(const Message &message, Heard &heard) {
    if (message.kind == Kind::welcome)
      return State::isWelcome;
    if (message.kind != Kind::refused)
      return State::isOver;
    if (message.status == uint32_t(later)) {
      heard.later = concat(": rank 0 at ", place(), " replies: ", message.text);
      heard.hasMet = true;
    } else if (message.status != uint32_t(Exit::ok)) {
      heard.refusal = {
          message.status == uint32_t(Exit::peer) ? Exit::peer : Exit::usage,
          concat("rank 0 at ", place(), " refuses rank ", meeting.rank, ": ", message.text)};
    }
    return State::isOver;
  }

  /// Of who has not proved to know the secret, whatever it says.
  void doubt(Heard &heard) {
    if (channel->fault() == SecureStream::Fault::otherSecret)
      heard.otherSecret =
          concat("the process that listens at ", place(), " does not have the secret of rank ",
                 meeting.rank,
                 " (WEIR_JOB_SECRET_FILE): it is not rank 0, or it was given another secret");
    else if (channel->fault() != SecureStream::Fault::unproved) // another job's rank 0
      heard.stranger = concat("; the process that listens at ", place(),
                              " did not prove that it knows the secret: it is another program, or "
                              "a rank 0 without a secret");
  }

  const Meeting &meeting;
  const LinksPlugin &crypto;
  const Endpoint &endpoint;
  const uint16_t port;
  int connecting; ///< a socket, until it is connected; -1: none
  std::unique_ptr<Channel> channel;
  bool isProved = false;
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
  bool hasWarned = false, hasNoticed = false;
  do {
    try {
      if (endpoints.empty() || meeting.last)
        endpoints = Endpoint::of(meeting);
    } catch (const Failure &) {
      if (!meeting.last)
        throw;
      endpoints.clear(); // the name of a host that is not there again yet
    }
    if (Clock::now() > began + meeting.notice && !std::exchange(hasNoticed, true) && !hasWarned) {
      std::string place = endpoints.empty() ? concat(meeting.host, ":", meeting.port)
                                            : endpoints[0].place(meeting.port);
      std::string problem = heard.later.empty()
                                ? concat("is waiting for rank 0, which has not answered at ", place,
                                         " for ", wholeSeconds(meeting.notice), " s")
                                : concat("cannot join rank 0", heard.later);
      meeting.warn(concat("rank ", meeting.rank, " ", problem, "; rank ", meeting.rank,
                          " gives up after ", wholeSeconds(meeting.patience),
                          " s (--collective-timeout)"));
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
    if (heard.refusal)
      fail(*heard.refusal);
    // Anybody who listens at one of the ports can look like rank 0 with another secret.
    if (!heard.otherSecret.empty() && !hasWarned && Clock::now() > began + meeting.lateness) {
      meeting.warn(concat(heard.otherSecret, "; rank ", meeting.rank, " keeps looking for rank 0"));
      hasWarned = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (Clock::now() < until);
  if (heard.refusal)
    fail(*heard.refusal);
  // Who has met rank 0 with this secret has the right one.
  if (!heard.otherSecret.empty() && !heard.hasMet && !meeting.last)
    throw Failure(Exit::usage, heard.otherSecret);
  if (!heard.later.empty())
    throw NotMet(Exit::peer, concat("rank ", meeting.rank, " cannot join rank 0", heard.later));
  bool isHere = !endpoints.empty() && endpoints[0].isThisMachine();
  const char *network = !isHere                 ? ""
                        : meeting.trustsNetwork ? ", with --trust-network as this rank was"
                                                : ", without --trust-network as this rank was";
  throw NotMet(
      Exit::peer,
      concat("rank ", meeting.rank, " found no rank 0 of this job at ",
             endpoints.empty() ? concat(meeting.host, ":", meeting.port)
                               : endpoints[0].place(meeting.port),
             " or the ", rendezvousPorts - 1, " ports after it within ",
             wholeSeconds(meeting.patience),
             " s: check that rank 0 was started with the same address and by the same user",
             network, ", and that no firewall blocks connections", heard.stranger,
             heard.otherSecret.empty() ? "" : "; ", heard.otherSecret));
}

} // namespace weir::collectives
