//===- Communicator.cpp - A rank among those of an axis, over NCCL --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Communicator.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <thread>
#include <utility>

namespace weir::cuda {

using Clock = std::chrono::steady_clock;

static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

Communicator::Communicator(const Nccl &library, const Member &member)
    : library(library), member(member) {
  const std::string what = concat("meeting over ", member.axisName);
  ncclUniqueId id = {};
  if (member.number == 0)
    if (ncclResult_t result = library.ncclGetUniqueId(&id))
      fail(result, what);
  // The first one's, for all.
  std::vector<std::span<const std::byte>> to(size_t(member.count));
  std::vector<std::span<std::byte>> from(size_t(member.count));
  ncclUniqueId given = {};
  if (member.number == 0)
    std::ranges::fill(to, std::as_bytes(std::span(id.internal)));
  from[0] = std::as_writable_bytes(std::span(given.internal));
  member.transport.exchange(member.axis, what, to, from);
  ncclConfig_t config = {sizeof config, ncclConfigMagic, ncclConfigVersion, /*blocking=*/0};
  await(library.ncclCommInitRankConfig(&handle, int(member.count), given, int(member.number),
                                       &config),
        what);
}

Communicator::~Communicator() { abort(); }

void Communicator::abort() {
  if (ncclComm_t ended = std::exchange(handle, nullptr))
    library.ncclCommAbort(ended);
}

void Communicator::close() {
  if (!handle)
    return;
  await(library.ncclCommFinalize(handle), concat("leaving those over ", member.axisName));
  library.ncclCommDestroy(std::exchange(handle, nullptr));
}

void Communicator::fail(ncclResult_t result, const std::string &what) {
  const char *more = library.ncclGetLastError(handle);
  std::string words = concat("rank ", member.rank, " in ", what,
                             ": NCCL says: ", library.ncclGetErrorString(result),
                             more && *more ? ": " : "", more ? more : "");
  abort();
  if (result != ncclRemoteError && result != ncclSystemError)
    throw Failure(Exit::device, words);
  // Who knows why comes right behind.
  for (Clock::time_point since = Clock::now();
       Clock::now() - since < std::chrono::milliseconds(2000); pause())
    member.transport.check(what, Clock::now());
  throw Failure(Exit::peer, words);
}

void Communicator::await(ncclResult_t result, const std::string &what) {
  Clock::time_point since = Clock::now();
  while (result == ncclInProgress && handle) {
    try {
      member.transport.check(what, since);
    } catch (...) {
      abort();
      throw;
    }
    pause();
    if (ncclResult_t failed = library.ncclCommGetAsyncError(handle, &result))
      result = failed;
  }
  if (result != ncclSuccess)
    fail(result, what);
}

void Communicator::check(const std::string &what) {
  ncclResult_t found = ncclSuccess, result = library.ncclCommGetAsyncError(handle, &found);
  if (result == ncclSuccess)
    result = found;
  if (result != ncclSuccess && result != ncclInProgress)
    fail(result, what);
}

ncclResult_t Communicator::move(const spec::Exchange &exchange, CUdeviceptr from, CUdeviceptr to,
                                CUstream stream) {
  auto at = [](CUdeviceptr place) { return reinterpret_cast<void *>(place); };
  ncclResult_t wrong = ncclSuccess;
  auto note = [&](ncclResult_t result) {
    if (result != ncclSuccess && result != ncclInProgress)
      wrong = result;
  };
  note(library.ncclGroupStart());
  for (size_t i = 0; i < exchange.sizes.size(); ++i) {
    uint64_t given = exchange.given(size_t(member.number), i);
    uint64_t got = exchange.got(size_t(member.number), i);
    if (given)
      note(library.ncclSend(at(from), given, ncclUint8, int(i), handle, stream));
    if (got)
      note(library.ncclRecv(at(to), got, ncclUint8, int(i), handle, stream));
    from += exchange.givesEachItsOwn() ? given : 0;
    to += got;
  }
  ncclResult_t ended = library.ncclGroupEnd();
  return wrong ? wrong : ended;
}

void Communicator::enqueue(const spec::Exchange &exchange, CUdeviceptr from, CUdeviceptr to,
                           const std::string &what, CUstream stream) {
  if (!handle)
    throw Failure(Exit::peer, concat("rank ", member.rank, " in ", what,
                                     ": the ranks have lost each other before"));
  bool isEven = std::ranges::count(exchange.sizes, exchange.own) == int64_t(exchange.sizes.size());
  if (exchange.kind == spec::CollectiveKind::all_gather && isEven)
    await(library.ncclAllGather(reinterpret_cast<const void *>(from), reinterpret_cast<void *>(to),
                                exchange.own, ncclUint8, handle, stream),
          what);
  else
    await(move(exchange, from, to, stream), what);
}

} // namespace weir::cuda
