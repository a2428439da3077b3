//===- Consensus.cpp - What processes agree on ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Consensus.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <exception>
#include <numeric>

namespace weir::collectives {
namespace {

std::vector<int64_t> everybody(const Group &group) {
  std::vector<int64_t> ranks(static_cast<size_t>(group.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

} // namespace

std::vector<std::vector<int64_t>> listsFromAll(Group &group, const std::string &what,
                                               std::span<const int64_t> own) {
  std::vector<std::vector<int64_t>> got(static_cast<size_t>(group.size()),
                                        std::vector<int64_t>(own.size()));
  std::vector<std::span<const std::byte>> to(got.size(), std::as_bytes(own));
  std::vector<std::span<std::byte>> from;
  for (std::vector<int64_t> &one : got)
    from.push_back(std::as_writable_bytes(std::span(one)));
  group.exchange(Group::hostLane, everybody(group), what, to, from);
  return got;
}

std::vector<int64_t> fromAll(Group &group, const std::string &what, int64_t own) {
  std::vector<int64_t> got;
  for (const std::vector<int64_t> &one : listsFromAll(group, what, {&own, 1}))
    got.push_back(one[0]);
  return got;
}

int64_t mostOf(Group &group, const std::string &what, int64_t own) {
  return std::ranges::max(fromAll(group, what, own));
}

void fromRank(Group &group, const std::string &what, int64_t rank, std::vector<std::byte> &bytes) {
  auto source = static_cast<size_t>(rank);
  auto size = static_cast<size_t>(fromAll(group, what, int64_t(bytes.size()))[source]);
  bool isSource = group.rank() == rank;
  if (!isSource)
    bytes.assign(size, std::byte{});
  std::vector<std::span<const std::byte>> to(size_t(group.size()));
  std::vector<std::span<std::byte>> from(size_t(group.size()));
  for (size_t i = 0; isSource && i < to.size(); ++i)
    if (i != source)
      to[i] = bytes;
  if (!isSource)
    from[source] = bytes;
  group.exchange(Group::hostLane, everybody(group), what, to, from);
}

void fromFirst(Group &group, const std::string &what, std::vector<std::byte> &bytes) {
  fromRank(group, what, 0, bytes);
}

std::vector<std::string> textsFromAll(Group &group, const std::string &what,
                                      const std::string &own) {
  std::vector<std::string> got;
  for (int64_t size : fromAll(group, what, int64_t(own.size())))
    got.emplace_back(static_cast<size_t>(size), '\0');
  std::vector<std::span<const std::byte>> to(got.size(), std::as_bytes(std::span(own)));
  std::vector<std::span<std::byte>> from;
  for (std::string &one : got)
    from.push_back(std::as_writable_bytes(std::span(one)));
  group.exchange(Group::hostLane, everybody(group), what, to, from);
  return got;
}

static std::string textOfGiven(const std::vector<Given> &all) {
  std::string text;
  for (const Given &given : all)
    for (const std::string &part : {given.name, given.value, given.words})
      text += part + '\0';
  return text;
}

static std::vector<Given> readGiven(const std::string &text) {
  std::vector<std::string> parts = split(text, '\0'); // the last one is behind all
  std::vector<Given> all;
  for (size_t i = 0; i + 3 <= parts.size(); i += 3)
    all.push_back({parts[i], parts[i + 1], parts[i + 2]});
  return all;
}

static const Given *findGiven(const std::vector<Given> &all, const std::string &name) {
  auto found = std::ranges::find(all, name, &Given::name);
  return found == all.end() ? nullptr : &*found;
}

static std::string wordsOf(const Given *given) {
  if (!given)
    return "not given";
  return given->words.empty() ? given->value : given->words;
}

void requireSameGiven(Group &group, const std::string &what, const std::vector<Given> &own) {
  std::vector<std::vector<Given>> all;
  std::vector<std::string> names; // of all, each once
  for (const std::string &text : textsFromAll(group, what, textOfGiven(own)))
    for (const Given &given : all.emplace_back(readGiven(text)))
      if (std::ranges::find(names, given.name) == names.end())
        names.push_back(given.name);
  std::vector<std::string> lines;
  for (const std::string &name : names) {
    const Given *first = findGiven(all[0], name);
    for (size_t rank = 1; rank < all.size(); ++rank) {
      const Given *other = findGiven(all[rank], name);
      if (first && other && first->value == other->value)
        continue;
      if (first || other) {
        lines.push_back(
            concat(name, ": ", wordsOf(first), " on rank 0, ", wordsOf(other), " on rank ", rank));
        break;
      }
    }
  }
  if (!lines.empty())
    throw Failure(Exit::usage,
                  concat("the ranks of this run differ in their options or files:\n  ",
                         joinFew(lines, "\n  "),
                         "\nStart every rank with the same options and with identical files"));
}

void requireSame(Group &group, const std::string &where, const std::string &what, uint64_t own) {
  std::vector<int64_t> all = fromAll(group, where, int64_t(own));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw Failure(Exit::usage, concat("rank ", rank, "'s ", what,
                                        " differs from rank 0's: give all ranks the same"));
}

void allOrNone(Group *group, const std::string &what, const std::function<void()> &body) {
  if (!group)
    return body();
  constexpr int64_t unreadable = 1 << 16; // above all statuses
  int64_t status = 0;
  std::string message;
  std::exception_ptr own;
  auto keep = [&](const Failure &failure, int64_t kind) {
    status = kind + int64_t(failure.exit);
    message = failure.what();
    own = std::current_exception();
  };
  try {
    body();
  } catch (const Unreadable &failure) {
    keep(failure, unreadable);
  } catch (const Failure &failure) {
    keep(failure, 0);
  }
  auto exchange = [&](auto &&with) {
    try {
      with();
    } catch (const GroupFailure &) {
      if (own) // which is why the others have ended, most likely
        std::rethrow_exception(own);
      throw;
    }
  };
  std::vector<int64_t> all;
  exchange([&] { all = fromAll(*group, what, status); });
  int64_t rank = std::ranges::find_if(all, [](int64_t one) { return one != 0; }) - all.begin();
  if (rank == group->size())
    return;
  auto *text = reinterpret_cast<const std::byte *>(message.data());
  std::vector<std::byte> bytes(text, text + message.size());
  exchange([&] { fromRank(*group, what, rank, bytes); });
  if (rank == group->rank())
    std::rethrow_exception(own);
  message = concat("rank ", rank, " reports: ",
                   std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  auto exit = static_cast<Exit>(all[size_t(rank)] % unreadable);
  if (all[size_t(rank)] >= unreadable)
    throw Unreadable(exit, message);
  throw Failure(exit, message);
}

} // namespace weir::collectives
