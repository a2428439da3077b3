//===- Link.cpp - Messages between two ranks ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Link.h"
#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace weir::collectives {

/// Of a message, ahead of a piece of another one: encrypted, or as large as a socket takes at once.
static constexpr size_t securePiece = 1 << 16, plainPiece = 1 << 18;
/// Bytes that one call of read() or write() moves: others wait for the lock meanwhile.
static constexpr size_t mostAtOnce = 1 << 18;

void Progress::begin(Way way) {
  std::lock_guard lock(mutex);
  ++left[way];
}

void Progress::end(Way way) {
  std::lock_guard lock(mutex);
  --left[way];
  changed.notify_all(); // under the lock: who waits may destroy this at once
}

void Progress::fail(const std::string &why) {
  std::lock_guard lock(mutex);
  failure = why;
  changed.notify_all();
}

void Progress::stop() {
  std::lock_guard lock(mutex);
  isStopped = true;
  changed.notify_all();
}

bool Progress::wait(Way way) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return isStopped || !failure.empty() || left[way] == 0; });
  if (!isStopped && !failure.empty())
    throw std::runtime_error(failure);
  return !isStopped;
}

bool Progress::isUnderWay() {
  std::lock_guard lock(mutex);
  return left[sending] + left[receiving] > 0;
}

void Link::send(Progress &progress, std::span<const std::byte> bytes, uint64_t tag) {
  if (!wire)
    return progress.fail(broken);
  progress.begin(Progress::sending);
  offered[tag].push_back({&progress, bytes});
  match(tag);
}

void Link::receive(Progress &progress, std::span<std::byte> bytes, uint64_t tag) {
  if (!wire)
    return progress.fail(broken);
  progress.begin(Progress::receiving);
  asked.emplace(next, Receiving{&progress, bytes});
  asks.push_back({Kind::ask, next++, tag, bytes.size()});
}

void Link::forget(const Progress &progress) {
  auto isOf = [&](const auto &one) { return one.progress == &progress; };
  for (auto &[tag, waiting] : offered)
    std::erase_if(waiting, isOf);
  std::erase_if(offered, [](const auto &one) { return one.second.empty(); });
  std::erase_if(answers, isOf);
  std::erase_if(leaving, isOf);
  std::erase_if(asked, [&](const auto &one) { return isOf(one.second); });
}

void Link::breakOff(const std::string &why) {
  if (!wire)
    return;
  wire.reset();
  broken = why;
  for (auto &[tag, waiting] : offered)
    for (Sending &one : waiting)
      one.progress->fail(why);
  for (Sending &one : answers)
    one.progress->fail(why);
  for (Leaving &one : leaving)
    one.progress->fail(why);
  for (auto &[number, one] : asked)
    one.progress->fail(why);
  offered.clear();
  wanted.clear();
  asks.clear();
  answers.clear();
  leaving.clear();
  asked.clear();
}

pollfd Link::awaited() const {
  return {wire ? wire->socket() : -1, short(POLLIN | (isSending() ? POLLOUT : 0)), 0};
}

/// Brings together what is offered and what is wanted, in the order of both.
void Link::match(uint64_t tag) {
  auto offers = offered.find(tag);
  auto wants = wanted.find(tag);
  if (offers == offered.end() || wants == wanted.end())
    return;
  while (!offers->second.empty() && !wants->second.empty()) {
    Sending one = offers->second.front();
    const Header want = wants->second.front();
    if (one.bytes.size() != want.size)
      return breakOff("the other end expects " + std::to_string(want.size) +
                      " bytes, but this end sends " + std::to_string(one.bytes.size()) + "");
    offers->second.pop_front();
    wants->second.pop_front();
    one.number = want.number;
    answers.push_back(one);
  }
  if (offers->second.empty())
    offered.erase(offers);
  if (wants->second.empty())
    wanted.erase(wants);
}

/// Returns how many bytes that are.
size_t Link::putNext() {
  auto put = [&](const Header &header) { wire->put(std::as_bytes(std::span(&header, 1))); };
  if (!asks.empty()) {
    put(asks.front());
    asks.pop_front();
    return sizeof(Header);
  }
  Sending one = answers.front();
  answers.pop_front();
  size_t most = wire->isPlain() ? plainPiece : securePiece;
  auto piece = one.bytes.subspan(one.done, std::min(most, one.bytes.size() - one.done));
  put({Kind::piece, one.number, 0, piece.size()});
  wire->put(piece);
  one.done += piece.size();
  if (one.done == one.bytes.size())
    leaving.push_back({one.progress, wire->taken() + wire->unsent()});
  else
    answers.push_back(one);
  return sizeof(Header) + piece.size();
}

void Link::write() {
  for (size_t done = 0; wire && done < mostAtOnce;) {
    while (wire->unsent() < (wire->isPlain() ? 1 : securePiece) && hasMore())
      done += putNext();
    if (!wire->flush())
      return breakOff(std::string(wire->why()));
    for (; !leaving.empty() && leaving.front().end <= wire->taken(); leaving.pop_front())
      leaving.front().progress->end(Progress::sending);
    if (wire->unsent() > 0 || !hasMore())
      return;
  }
}

void Link::read() {
  for (size_t done = 0; wire && done < mostAtOnce;) {
    size_t came = readSome();
    if (came == 0)
      return;
    done += came;
  }
}

/// Where the next bytes belong, if they are those of a message and lie ready there as they are.
std::span<std::byte> Link::room() {
  auto found = wire->isPlain() && wire->came().empty() ? asked.find(pieceOf) : asked.end();
  if (found == asked.end())
    return {};
  return found->second.bytes.subspan(found->second.done, pieceLeft);
}

/// Returns how many bytes have come.
size_t Link::readSome() {
  if (std::span<std::byte> memory = room(); !memory.empty()) {
    size_t got = 0;
    bool isOpen = wire->readInto(memory, got);
    asked.at(pieceOf).done += got;
    pieceLeft -= got;
    endPiece();
    if (!isOpen)
      breakOff(std::string(wire->why()));
    return got;
  }
  size_t before = wire->came().size();
  bool isOpen = wire->read();
  size_t used = 0, came = wire->came().size() - before;
  while (wire && used < wire->came().size()) {
    size_t more = use(std::string_view(wire->came()).substr(used));
    used += more;
    if (more == 0)
      break; // half a header
  }
  if (wire)
    wire->came().erase(0, used);
  if (wire && !isOpen)
    breakOff(std::string(wire->why()));
  return came;
}

/// Returns how many of the bytes it has used.
size_t Link::use(std::string_view plain) {
  if (pieceOf == 0) {
    Header header;
    if (plain.size() < sizeof header)
      return 0;
    std::memcpy(&header, plain.data(), sizeof header);
    begin(header);
    return sizeof header;
  }
  size_t size = std::min(plain.size(), pieceLeft);
  // Whoever has asked for it may have let go of it since.
  if (auto found = asked.find(pieceOf); found != asked.end() && size > 0) {
    Receiving &one = found->second;
    std::memcpy(one.bytes.data() + one.done, plain.data(), size);
    one.done += size;
  }
  pieceLeft -= size;
  endPiece();
  return size;
}

void Link::begin(const Header &header) {
  if (header.kind == Kind::ask) {
    wanted[header.tag].push_back(header);
    return match(header.tag);
  }
  auto found = asked.find(header.number);
  if (header.kind != Kind::piece || header.number == 0 || header.number >= next ||
      (found != asked.end() && header.size > found->second.bytes.size() - found->second.done))
    return breakOff("the other end sent a message that this build of Weir does not know");
  pieceOf = header.number;
  pieceLeft = header.size;
  endPiece();
}

/// Where all of it has come.
void Link::endPiece() {
  if (pieceLeft > 0)
    return;
  auto found = asked.find(pieceOf);
  pieceOf = 0;
  if (found == asked.end() || found->second.done < found->second.bytes.size())
    return;
  found->second.progress->end(Progress::receiving);
  asked.erase(found);
}

} // namespace weir::collectives
