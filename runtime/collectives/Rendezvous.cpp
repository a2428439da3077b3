//===- Rendezvous.cpp - How the processes of a run find each other --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Rendezvous.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <thread>
#include <unistd.h>

namespace weir::collectives {
namespace {

using Clock = Channel::Clock;
using Kind = Message::Kind;
using std::chrono::seconds;

/// Grows with every change of what is said.
constexpr uint32_t protocol = 2;
/// For a stranger to say who it is.
constexpr seconds toProve(5);
constexpr size_t mostVisitors = 128;
/// To who may be taken when it comes again.
constexpr Exit later = Exit::requeue;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  sockaddr *raw() { return reinterpret_cast<sockaddr *>(&storage); }
  void setPort(uint16_t port) {
    if (storage.ss_family == AF_INET)
      reinterpret_cast<sockaddr_in &>(storage).sin_port = htons(port);
    else
      reinterpret_cast<sockaddr_in6 &>(storage).sin6_port = htons(port);
  }
  bool isThisMachine() const {
    if (storage.ss_family == AF_INET)
      return (ntohl(reinterpret_cast<const sockaddr_in &>(storage).sin_addr.s_addr) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 &>(storage).sin6_addr);
  }
  std::string text() {
    char name[NI_MAXHOST] = "?";
    getnameinfo(raw(), length, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
    return name;
  }
};

/// Where rank 0 listens so, no other machine finds it, and all would wait for who cannot come.
void requireReachable(const Meeting &meeting, Address &address) {
  if (!address.isThisMachine() || meeting.beside == 0 || meeting.beside >= meeting.size)
    return;
  throw Failure(Exit::usage,
                concat("rank 0 is at ", meeting.host, ", which is ", address.text(),
                       " here: no other machine reaches it, and the launcher has started ",
                       meeting.beside, " of the ", meeting.size,
                       " processes on this one. Set MASTER_ADDR to an address of rank 0's "
                       "machine that others reach (Debian's /etc/hosts names 127.0.1.1 for the "
                       "machine's own name); where all are on one machine, give --rendezvous "
                       "127.0.0.1:29500"));
}

/// The first that the host has, of the older kind where it has both, so that all ranks take the
/// same.
Address resolve(const Meeting &meeting) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(meeting.host.c_str(), nullptr, &hints, &found);
  if (error)
    throw Failure(Exit::usage, concat("the address of rank 0, ", meeting.host,
                                      ", is not known here: ", gai_strerror(error)));
  const addrinfo *chosen = nullptr;
  for (const addrinfo *one = found; one; one = one->ai_next)
    if ((one->ai_family == AF_INET || one->ai_family == AF_INET6) &&
        (!chosen || (one->ai_family == AF_INET && chosen->ai_family != AF_INET)))
      chosen = one;
  Address address;
  if (chosen) {
    std::memcpy(&address.storage, chosen->ai_addr, chosen->ai_addrlen);
    address.length = chosen->ai_addrlen;
  }
  freeaddrinfo(found);
  if (!chosen)
    throw Failure(Exit::usage,
                  concat("the address of rank 0, ", meeting.host, ", is none of the internet's"));
  requireReachable(meeting, address);
  if (!address.isThisMachine() && meeting.secret.empty() && !meeting.trustsNetwork)
    throw Failure(Exit::usage,
                  concat("rank 0 is at ", meeting.host,
                         ", which others on the network reach too: name a file with a secret that "
                         "all ranks know in WEIR_JOB_SECRET_FILE, or give --trust-network where "
                         "everybody on it may join the run"));
  return address;
}

std::string placeText(const std::string &address, uint16_t port) {
  bool colons = address.find(':') != std::string::npos;
  return concat(colons ? "[" : "", address, colons ? "]" : "", ":", port);
}

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

std::string proofOfDoor(const Meeting &meeting, const LinksPlugin &crypto, const Message &hello,
                        const std::string &challenge) {
  return meeting.secret.empty() ? ""
                                : crypto.hmac(meeting.secret, concat("weir door ", hello.rank, " ",
                                                                     challenge, hello.nonce));
}

} // namespace

Door::Door(const Meeting &meeting, const LinksPlugin &crypto)
    : meeting(meeting), crypto(crypto), newest(meeting.last) {
  Address address = resolve(meeting);
  numeric = address.text();
  for (int next = meeting.port; next < meeting.port + rendezvousPorts && next < 1 << 16; ++next) {
    listening = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (listening >= 0)
      setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    address.setPort(port = uint16_t(next));
    if (listening >= 0 && bind(listening, address.raw(), address.length) == 0 &&
        listen(listening, int(mostVisitors)) == 0)
      return;
    int reason = errno;
    if (listening >= 0)
      close(listening);
    if (reason == EADDRNOTAVAIL)
      throw Failure(Exit::usage, concat("rank 0 runs here, and its address, ", meeting.host, " (",
                                        numeric, "), is not one of this machine's"));
    if (reason != EADDRINUSE && reason != EACCES)
      throw Failure(Exit::device, concat("rank 0 cannot listen at ", placeText(numeric, port), ": ",
                                         std::strerror(reason)));
  }
  throw Failure(Exit::peer, concat("rank 0 finds no free port at ", numeric, " from ", meeting.port,
                                   " to ", meeting.port + rendezvousPorts - 1));
}

Door::~Door() { close(listening); }

std::string Door::place() const { return placeText(numeric, port); }

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
  if (hello.kind != Kind::hello || hello.status != protocol || hello.text != meeting.job)
    return refuse(Exit::ok, "this is another job");
  if (!isSame(hello.code, proof(meeting, crypto, hello, visitor.nonce)))
    return refuse(Exit::usage, "the secret is another one than rank 0's (WEIR_JOB_SECRET_FILE)");
  if (hello.size != meeting.size || hello.rank == 0 || hello.rank >= meeting.size)
    return refuse(Exit::usage, concat("this is rank ", hello.rank, " of ", hello.size,
                                      ", and rank 0 is one of ", meeting.size));
  newest = std::max(newest, lastOf(hello));
  if (here.contains(hello.rank)) {
    visitor.channel->put(answerAgain(hello.rank, lastOf(hello)));
    return true;
  }
  visitor.channel->trust();
  visitor.channel->put(
      {.kind = Kind::welcome, .code = proofOfDoor(meeting, crypto, hello, visitor.nonce)});
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

/// A connected socket, or -1.
int connectTo(Address &address, Clock::time_point until) {
  int file = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0)
    throw Failure(Exit::device, concat("there is no socket to be had: ", std::strerror(errno)));
  int error = connect(file, address.raw(), address.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd ready{file, POLLOUT, 0};
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    socklen_t size = sizeof error;
    if (poll(&ready, 1, int(std::max<int64_t>(left, 1))) == 1)
      getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0)
    return file;
  close(file);
  return -1;
}

/// Whether rank 0 of this run is at the other end, and takes this one; `said` is why not yet.
bool introduce(Channel &channel, const Meeting &meeting, const LinksPlugin &crypto,
               const std::string &place, std::string &said) {
  auto challenge = channel.next(Clock::now() + toProve);
  if (!challenge || challenge->kind != Kind::challenge)
    return false;
  Message hello{.kind = Kind::hello,
                .rank = uint32_t(meeting.rank),
                .size = uint32_t(meeting.size),
                .status = protocol,
                .text = meeting.job,
                .nonce = crypto.random(Message::mostNonce),
                .parts = {std::to_string(meeting.last)}};
  hello.code = proof(meeting, crypto, hello, challenge->nonce);
  channel.put(hello);
  auto answer = channel.next(Clock::now() + toProve);
  if (!answer)
    return false;
  if (answer->kind == Kind::refused && answer->status == uint32_t(later)) {
    said = concat(", which says at ", place, ": ", answer->text);
    return false;
  }
  if (answer->kind == Kind::refused && answer->status != uint32_t(Exit::ok)) {
    std::string words =
        concat("rank 0 at ", place, " refuses rank ", meeting.rank, ": ", answer->text);
    if (answer->status == uint32_t(Exit::peer))
      throw NotMet(Exit::peer, words);
    throw Failure(Exit::usage, words);
  }
  if (answer->kind != Kind::welcome)
    return false;
  if (!isSame(answer->code, proofOfDoor(meeting, crypto, hello, challenge->nonce)))
    throw Failure(Exit::usage, concat("who listens at ", place,
                                      " does not know the job's secret, and is not rank 0"));
  return true;
}

} // namespace

Entered enter(const Meeting &meeting, const LinksPlugin &crypto) {
  const auto until = Clock::now() + meeting.patience;
  std::optional<Address> found;
  std::string said;
  do {
    try {
      if (!found || meeting.last)
        found = resolve(meeting);
    } catch (const Failure &) {
      if (!meeting.last)
        throw;
      found.reset(); // the name of a host that is not there again yet
    }
    if (!found) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      continue;
    }
    Address &address = *found;
    for (int port = meeting.port; port < meeting.port + rendezvousPorts && port < 1 << 16; ++port) {
      address.setPort(uint16_t(port));
      // Where nothing answers at all, each port takes that long.
      int socket = connectTo(address, std::min(until, Clock::now() + seconds(2)));
      if (socket < 0)
        continue;
      Entered entered{std::make_unique<Channel>(socket), placeText(address.text(), uint16_t(port)),
                      ""};
      if (!introduce(*entered.channel, meeting, crypto, entered.place, said))
        continue;
      entered.channel->trust();
      Address own;
      own.length = sizeof own.storage;
      getsockname(socket, own.raw(), &own.length);
      entered.address = own.text();
      return entered;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (Clock::now() < until);
  if (!said.empty())
    throw NotMet(Exit::peer, concat("rank ", meeting.rank, " is not taken by rank 0", said));
  throw NotMet(Exit::peer,
               concat("rank ", meeting.rank, " has found no rank 0 of this job at ",
                      placeText(found ? found->text() : meeting.host, meeting.port), " or the ",
                      rendezvousPorts - 1, " ports behind it for ",
                      std::chrono::duration_cast<seconds>(meeting.patience).count(),
                      " s: was it started, with the same address, and does nothing keep "
                      "connections out?"));
}

} // namespace weir::collectives
