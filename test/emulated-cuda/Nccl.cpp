//===- Nccl.cpp - The stand-in's libnccl: its exported functions ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of calls is one operation. It comes when its stream has come so far, where it takes the
// communicator's next number (each time that a graph is launched), and leaves when every member's
// operation of that number has come. They have to be alike, in their kind and in all sizes, and
// each ordered behind the one before by its streams.
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Planted.h"
#include "test/emulated-cuda/Private.h"
#include "test/emulated-cuda/Rendezvous.h"
#include <atomic>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <list>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weir::cuda {

extern "C" {
#define WEIR_EMULATED_DECLARE(type, name, arguments)                                               \
  __attribute__((visibility("default"))) type name arguments;
WEIR_CUDA_NCCL(WEIR_EMULATED_DECLARE)
#undef WEIR_EMULATED_DECLARE
}

using emulated::Rendezvous;

/// What is asked of the driver's stand-in, which must have been opened: it is found by its soname.
struct DriverCalls {
  decltype(&weirEmulatedMeet) meet = nullptr;
  decltype(&weirEmulatedNow) now = nullptr;
  decltype(&weirEmulatedIsAfter) isAfter = nullptr;
  decltype(&weirEmulatedReport) report = nullptr;
  decltype(&weirEmulatedIsAllocated) isAllocated = nullptr;
};

static const DriverCalls *driver() {
  static const DriverCalls calls = [] {
    DriverCalls found;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto find = [&](auto &call, const char *name) {
      call = library
                 ? reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name))
                 : nullptr;
    };
    find(found.meet, "weirEmulatedMeet");
    find(found.now, "weirEmulatedNow");
    find(found.isAfter, "weirEmulatedIsAfter");
    find(found.report, "weirEmulatedReport");
    find(found.isAllocated, "weirEmulatedIsAllocated");
    return found;
  }();
  return calls.meet && calls.now && calls.isAfter && calls.report && calls.isAllocated ? &calls
                                                                                       : nullptr;
}

/// A range that is given to a member, or got of one.
struct Part {
  int member;
  uint64_t address, bytes;
};

struct Operation {
  ncclComm_t communicator;
  CUstream stream = nullptr;
  const char *kind = "exchange";
  std::vector<Part> sends = {}, receives = {};
};

/// What one member says of an operation, before the bytes that it gives.
struct Said {
  char kind[16] = {};
  std::vector<uint64_t> sends, receives; ///< bytes, by member
};

struct ncclComm {
  ncclComm(const std::string &name, int members, int own)
      : place(name, members, own), members(members), own(own) {}

  Rendezvous place;
  const int members, own;
  bool blocks = false;
  std::atomic<bool> isMade = false, isAborted = false;
  std::atomic<bool> isUnderWay = false; ///< of a call that has returned before it was done
  std::list<Operation> operations;      ///< all that were ever asked for
  int asked = 0;
  const Operation *heldBack = nullptr; ///< a test wants it behind the next
  // Of what runs:
  int64_t came = 0, left = 0;
  WeirEmulatedMoment last = {};

  std::string name() const {
    return "member " + std::to_string(own) + " of " + std::to_string(members);
  }
  void report(const Operation &operation, const std::string &what) const {
    driver()->report(
        (name() + " in its " + operation.kind + " number " + std::to_string(left) + ": " + what)
            .c_str());
  }
};

static Said saidOf(const Operation &operation) {
  Said said;
  std::snprintf(said.kind, sizeof said.kind, "%s", operation.kind);
  said.sends.resize(size_t(operation.communicator->members));
  said.receives = said.sends;
  for (const Part &part : operation.sends)
    said.sends[size_t(part.member)] += part.bytes;
  for (const Part &part : operation.receives)
    said.receives[size_t(part.member)] += part.bytes;
  return said;
}

static void come(void *object) {
  auto &operation = *static_cast<Operation *>(object);
  ncclComm &all = *operation.communicator;
  if (all.isAborted)
    return;
  if (all.came != all.left || (all.left && !driver()->isAfter(all.last)))
    all.report(operation, "nothing orders it behind the one before of its communicator");
  Said said = saidOf(operation);
  std::string bytes(said.kind, sizeof said.kind);
  for (const auto *list : {&said.sends, &said.receives})
    bytes.append(reinterpret_cast<const char *>(list->data()), list->size() * sizeof(uint64_t));
  // In the order of members, as they are read.
  for (int member = 0; member < all.members; ++member)
    for (const Part &part : operation.sends)
      if (part.member == member)
        bytes.append(reinterpret_cast<const char *>(part.address), part.bytes);
  all.place.leave(all.came++, bytes);
}

static int isOpen(void *object) {
  ncclComm &all = *static_cast<Operation *>(object)->communicator;
  return all.isAborted || all.came == all.left || all.place.allHaveLeft(all.left);
}

static void leave(void *object) {
  auto &operation = *static_cast<Operation *>(object);
  ncclComm &all = *operation.communicator;
  if (all.isAborted || all.came == all.left)
    return;
  Said own = saidOf(operation);
  for (int member = 0; member < all.members; ++member) {
    std::string bytes = all.place.of(member, all.left);
    Said said;
    said.sends.resize(size_t(all.members));
    said.receives = said.sends;
    size_t size = said.sends.size() * sizeof(uint64_t), at = sizeof said.kind;
    if (bytes.size() < at + 2 * size)
      return all.report(operation, "what another has left cannot be read");
    std::memcpy(said.kind, bytes.data(), at);
    std::memcpy(said.sends.data(), bytes.data() + at, size);
    std::memcpy(said.receives.data(), bytes.data() + at + size, size);
    at += 2 * size;
    if (std::strcmp(said.kind, own.kind) != 0)
      return all.report(operation,
                        "member " + std::to_string(member) + " is in another, a " + said.kind);
    uint64_t given = said.sends[size_t(all.own)], got = own.receives[size_t(member)];
    if (given != got)
      return all.report(operation, "it gets " + std::to_string(got) + " bytes of member " +
                                       std::to_string(member) + ", which gives it " +
                                       std::to_string(given));
    for (int before = 0; before < all.own; ++before)
      at += said.sends[size_t(before)];
    for (const Part &part : operation.receives)
      if (part.member == member) {
        std::memcpy(reinterpret_cast<void *>(part.address), bytes.data() + at, part.bytes);
        at += part.bytes;
      }
  }
  driver()->now(&all.last);
  // Who has come to this one has read the one before.
  if (all.left)
    all.place.remove(all.left - 1);
  ++all.left;
}

static ncclResult_t refuse(ncclResult_t result, const std::string &why) {
  std::fprintf(stderr, "emulated CUDA: nccl: %s\n", why.c_str());
  return result;
}

/// Between ncclGroupStart and its end, of the calling thread.
static thread_local int depth = 0;
static thread_local std::vector<std::pair<ncclComm *, Operation>> grouped;

static ncclResult_t meet(Operation &operation) {
  std::vector<WeirEmulatedRange> ranges;
  for (auto [list, isWrite] : {std::pair(&operation.sends, 0), {&operation.receives, 1}})
    for (const Part &part : *list) {
      if (!driver()->isAllocated(part.address, part.bytes))
        return refuse(ncclInvalidArgument, "a range that is not memory of the device");
      ranges.push_back({part.address, part.bytes, 1, 0, isWrite});
    }
  static constexpr WeirEmulatedMeeting calls = {come, isOpen, leave};
  std::string name = std::string("a collective, ") + operation.kind;
  return driver()->meet(operation.stream, name.c_str(), &calls, &operation, ranges.data(),
                        ranges.size())
             ? ncclUnhandledCudaError
             : ncclSuccess;
}

static ncclResult_t enqueue(ncclComm &all, Operation operation) {
  if (!all.isMade || all.isAborted)
    return refuse(ncclInvalidArgument, "a communicator that is not there");
  if (all.isUnderWay)
    return refuse(ncclInvalidUsage, "a communicator is used before its last call is done");
  int number = ++all.asked;
  all.operations.push_back(std::move(operation));
  Operation &kept = all.operations.back();
  if (all.own == emulated::plantedDevice && number == emulated::plantedNumber("count"))
    for (auto *list : {&kept.sends, &kept.receives})
      for (Part &part : *list)
        part.bytes = (part.bytes + 1) / 2;
  if (all.own == emulated::plantedDevice && number == emulated::plantedNumber("swap")) {
    all.heldBack = &kept;
    return ncclSuccess;
  }
  ncclResult_t result = meet(kept);
  if (const Operation *late = std::exchange(all.heldBack, nullptr); late && !result)
    result = meet(const_cast<Operation &>(*late));
  if (result || all.blocks)
    return result;
  all.isUnderWay = true;
  return ncclInProgress;
}

/// One call of a group, or a group of its own.
static ncclResult_t add(ncclComm_t communicator, CUstream stream, const char *kind,
                        const std::vector<Part> &sends, const std::vector<Part> &receives) {
  if (!communicator || !driver())
    return ncclInvalidArgument;
  Operation *operation = nullptr;
  for (auto &[known, one] : grouped)
    if (known == communicator)
      operation = &one;
  if (!operation) {
    grouped.push_back({communicator, {communicator, stream, kind}});
    operation = &grouped.back().second;
  }
  if (operation->stream != stream || std::strcmp(operation->kind, kind) != 0)
    return refuse(ncclInvalidUsage, "a group of unlike calls, which the stand-in does not know");
  operation->sends.insert(operation->sends.end(), sends.begin(), sends.end());
  operation->receives.insert(operation->receives.end(), receives.begin(), receives.end());
  if (depth)
    return ncclSuccess;
  ++depth;
  return ncclGroupEnd();
}

extern "C" {

const char *ncclGetErrorString(ncclResult_t result) {
  static constexpr const char *texts[] = {"no error",
                                          "unhandled cuda error",
                                          "unhandled system error",
                                          "internal error",
                                          "invalid argument",
                                          "invalid usage",
                                          "remote process exited",
                                          "NCCL operation in progress"};
  return result >= 0 && result < int(std::size(texts)) ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetVersion(int *version) {
  *version = int(ncclConfigVersion);
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "%s", Rendezvous::newName().c_str());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *communicator, int members, ncclUniqueId id,
                                    int member, ncclConfig_t *config) {
  if (!driver())
    return refuse(ncclSystemError, "the emulated driver is not loaded");
  if (member < 0 || member >= members || config->magic != ncclConfigMagic)
    return ncclInvalidArgument;
  auto *made = new ncclComm(id.internal, members, member);
  constexpr int64_t ofMeeting = -1;
  made->place.leave(ofMeeting, "");
  made->blocks = config->blocking;
  *communicator = made;
  while (made->blocks && !made->place.allHaveLeft(ofMeeting))
    usleep(1000);
  made->isMade = made->blocks;
  return made->blocks ? ncclSuccess : ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t all, ncclResult_t *error) {
  if (!all)
    return ncclInvalidArgument;
  all->isMade = all->isMade || all->place.allHaveLeft(-1);
  if (all->place.isAbandoned())
    *error = ncclRemoteError;
  else
    *error = all->isMade ? ncclSuccess : ncclInProgress;
  all->isUnderWay = false;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t all) { return all ? ncclSuccess : ncclInvalidArgument; }

ncclResult_t ncclCommDestroy(ncclComm_t all) {
  if (!all)
    return ncclInvalidArgument;
  all->isAborted = true;
  all->place.close();
  return all->came == all->left
             ? ncclSuccess
             : refuse(ncclInvalidUsage, "a communicator is destroyed that is still waited for");
}

/// What the member waits in ends.
ncclResult_t ncclCommAbort(ncclComm_t all) {
  if (!all)
    return ncclInvalidArgument;
  all->isAborted = true;
  all->place.abandon();
  all->place.close();
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (!depth)
    return ncclInvalidUsage;
  if (--depth)
    return ncclSuccess;
  ncclResult_t result = ncclSuccess;
  for (auto &[communicator, operation] : std::exchange(grouped, {}))
    if (ncclResult_t one = enqueue(*communicator, std::move(operation)))
      if (result == ncclSuccess || result == ncclInProgress)
        result = one;
  return result;
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t communicator, CUstream stream) {
  if (type != ncclUint8 || !communicator)
    return ncclInvalidArgument;
  std::vector<Part> sends, receives;
  for (int member = 0; member < communicator->members; ++member) {
    sends.push_back({member, reinterpret_cast<uint64_t>(from), count});
    receives.push_back({member, reinterpret_cast<uint64_t>(to) + uint64_t(member) * count, count});
  }
  return add(communicator, stream, "all_gather", sends, receives);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int member,
                      ncclComm_t communicator, CUstream stream) {
  if (type != ncclUint8 || !communicator || member < 0 || member >= communicator->members)
    return ncclInvalidArgument;
  return add(communicator, stream, "exchange", {{member, reinterpret_cast<uint64_t>(from), count}},
             {});
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int member,
                      ncclComm_t communicator, CUstream stream) {
  if (type != ncclUint8 || !communicator || member < 0 || member >= communicator->members)
    return ncclInvalidArgument;
  return add(communicator, stream, "exchange", {},
             {{member, reinterpret_cast<uint64_t>(to), count}});
}

} // extern "C"

} // namespace weir::cuda
