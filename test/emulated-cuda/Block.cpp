//===- Block.cpp - Runs one block of a kernel, thread by thread ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Fibers.h"
#include "test/emulated-cuda/Meeting.h"
#include "test/emulated-cuda/Options.h"
#include "test/emulated-cuda/Shadow.h"
#include <bit>
#include <vector>

namespace weir::emulated {

extern "C" {
__attribute__((visibility("default"))) Place weirEmulatedPlace;
}
BlockClock blockClock;

namespace {

struct Thread {
  Context context;
  int stack = -1; ///< none before it first waits and after it ended
  Site site;      ///< where it waits
  uint32_t laneTick = 0, lanes = 0;
};

/// The threads of one warp, a bit each.
struct Warp {
  uint32_t all = 0, ready = 0, started = 0, atBarrier = 0, atWarp = 0, ended = 0;
  uint32_t tick = 0;
};

const Grid *grid;
Thread threads[maxThreads];
Warp warps[maxThreads / warpLanes];
Meeting meetings[maxThreads];
uint32_t readyWarps;
unsigned warpCount, current, live, waiting;
bool hasFailed;
Context scheduler;
std::vector<int> freeStacks;

Warp &warpOf(unsigned thread) { return warps[thread / warpLanes]; }
uint32_t bitOf(unsigned thread) { return 1u << thread % warpLanes; }

void makeReady(unsigned warp, uint32_t lanes) {
  warps[warp].ready |= lanes;
  if (lanes)
    readyWarps |= 1u << warp;
}

/// One of the set bits: the lowest, or one that is drawn.
unsigned pickBit(uint32_t bits) {
  if (options().isForward())
    return unsigned(std::countr_zero(bits));
  unsigned turn = random().below(32);
  return (unsigned(std::countr_zero(std::rotr(bits, int(turn)))) + turn) % 32;
}

/// Takes one of the threads that can run; -1 if none can.
int takeReady() {
  if (!readyWarps)
    return -1;
  // Forward, and more often than not otherwise, a warp goes on for as long as it can.
  unsigned warp = pickBit(readyWarps);
  unsigned lane = pickBit(warps[warp].ready);
  warps[warp].ready &= ~(1u << lane);
  if (!warps[warp].ready)
    readyWarps &= ~(1u << warp);
  return int(warp * warpLanes + lane);
}

void setCurrent(unsigned thread) {
  current = thread;
  weirEmulatedPlace.thread.x = thread;
  blockClock.warpTick = warpOf(thread).tick;
  blockClock.laneTick = threads[thread].laneTick;
  blockClock.lanes = threads[thread].lanes;
  shadowThread(thread);
}

void enterStack();

int takeStack() {
  if (freeStacks.empty())
    return -1;
  int stack = freeStacks.back();
  freeStacks.pop_back();
  return stack;
}

/// Goes on with `thread` and leaves off in `from`.
void goTo(unsigned thread, Context &from) {
  setCurrent(thread);
  if (warpOf(thread).started & bitOf(thread))
    return switchContext(from, threads[thread].context);
  warpOf(thread).started |= bitOf(thread);
  threads[thread].stack = takeStack();
  prepareContext(threads[thread].context, threads[thread].stack, enterStack);
  switchContext(from, threads[thread].context);
}

/// The current thread waits: others go on until something makes it ready and picks it.
void suspend() {
  Context &here = threads[current].context;
  int next = takeReady();
  if (next == int(current))
    return setCurrent(current);
  if (next < 0)
    return switchContext(here, scheduler);
  goTo(unsigned(next), here);
}

std::string text(const Site &site) {
  return site.what + std::string(" of ") + site.file + ":" + std::to_string(site.line);
}

std::string threadName(unsigned thread) { return "thread " + std::to_string(thread); }

void releaseBarrier() {
  waiting = 0;
  blockClock.allTick = ++blockClock.now;
  for (unsigned w = 0; w < warpCount; ++w) {
    makeReady(w, warps[w].atBarrier);
    warps[w].atBarrier = 0;
  }
}

/// The meeting that the current thread completes or leaves for ever: who waits for it in vain.
void checkEnd() {
  Warp &warp = warpOf(current);
  for (uint32_t rest = warp.atWarp; rest; rest &= rest - 1) {
    unsigned other = current / warpLanes * warpLanes + unsigned(std::countr_zero(rest));
    if (meetings[other].mask & bitOf(current))
      failThread(cuda::CUDA_ERROR_LAUNCH_FAILED, "ended, but " + threadName(other) +
                                                     " waits for it at the " +
                                                     text(threads[other].site));
  }
}

/// What a stack runs: threads, one after another, until one of them waits and keeps the stack.
void runThreads() {
  for (;;) {
    grid->call(grid->arguments);
    checkEnd();
    warpOf(current).ended |= bitOf(current);
    --live;
    int stack = threads[current].stack;
    threads[current].stack = -1;
    int next = takeReady();
    Context left;
    if (next >= 0 && !(warpOf(unsigned(next)).started & bitOf(unsigned(next)))) {
      setCurrent(unsigned(next));
      warpOf(current).started |= bitOf(current);
      threads[current].stack = stack;
      continue;
    }
    freeStacks.push_back(stack);
    if (next < 0)
      switchContext(left, scheduler);
    else
      goTo(unsigned(next), left);
  }
}

void enterStack() { runThreads(); }

/// No thread can go on, and not all have ended.
void reportStandstill() {
  unsigned stuck = 0, other = 0;
  while (warpOf(stuck).ended & bitOf(stuck))
    ++stuck;
  while (other < grid->threads && (other == stuck || (!(warpOf(other).ended & bitOf(other)) &&
                                                      threads[other].site == threads[stuck].site)))
    ++other;
  weirEmulatedPlace.thread.x = stuck;
  std::string rest =
      other == grid->threads ? ""
      : warpOf(other).ended & bitOf(other)
          ? ", but " + threadName(other) + " has ended"
          : ", but " + threadName(other) + " waits at the " + text(threads[other].site);
  reportFault(cuda::CUDA_ERROR_LAUNCH_FAILED,
              whereInGrid() + ": waits at the " + text(threads[stuck].site) + rest);
}

} // namespace

std::string whereInGrid() {
  return grid->name + ", block " + std::to_string(weirEmulatedPlace.block.x) + ", thread " +
         std::to_string(weirEmulatedPlace.thread.x);
}

void failThread(cuda::CUresult error, const std::string &what) {
  reportFault(error, whereInGrid() + ": " + what);
  hasFailed = true;
  Context left;
  switchContext(left, scheduler);
  __builtin_unreachable();
}

bool runBlock(const Grid &wanted, unsigned index) {
  grid = &wanted;
  weirEmulatedPlace = {{0, 0, 0}, {index, 0, 0}, {grid->threads, 1, 1}, {grid->blocks, 1, 1}};
  blockClock = {};
  hasFailed = false;
  readyWarps = 0;
  waiting = 0;
  live = grid->threads;
  warpCount = (live + warpLanes - 1) / warpLanes;
  freeStacks.clear();
  for (int i = maxStacks; i-- > 0;)
    freeStacks.push_back(i);
  for (unsigned w = 0; w < warpCount; ++w) {
    unsigned lanes = std::min(warpLanes, live - w * warpLanes);
    warps[w] = {};
    warps[w].all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    makeReady(w, warps[w].all);
  }
  for (unsigned i = 0; i < live; ++i) {
    threads[i].stack = -1;
    threads[i].laneTick = threads[i].lanes = 0;
  }
  shadowBlock(index, grid->sharedBytes);
  forgetCopies(grid->threads);
  goTo(unsigned(takeReady()), scheduler);
  if (!hasFailed && live) {
    reportStandstill();
    hasFailed = true;
  }
  return !hasFailed;
}

// What kernels call.

static void barrier(const Site &site) {
  threads[current].site = site;
  warpOf(current).atBarrier |= bitOf(current);
  ++waiting;
  if (waiting > 1) {
    // Those that wait agree with each other: one of them stands for all.
    unsigned w = 0;
    uint32_t others = 0;
    for (; !others; ++w)
      others = warps[w].atBarrier & ~(w == current / warpLanes ? bitOf(current) : 0);
    unsigned other = (w - 1) * warpLanes + unsigned(std::countr_zero(others));
    if (!(threads[other].site == site))
      failThread(cuda::CUDA_ERROR_LAUNCH_FAILED, "reaches the " + text(site) + ", but " +
                                                     threadName(other) + " waits at the " +
                                                     text(threads[other].site));
  }
  if (waiting == grid->threads)
    releaseBarrier();
  suspend();
}

extern "C" __attribute__((visibility("default"))) void weirEmulatedBarrier(const char *file,
                                                                           int line) {
  barrier({"barrier", file, line});
}

void meet(const Site &site, const Meeting &mine) {
  Warp &warp = warpOf(current);
  unsigned base = current / warpLanes * warpLanes;
  threads[current].site = site;
  meetings[current] = mine;
  auto fail = [&](const std::string &why) {
    failThread(cuda::CUDA_ERROR_LAUNCH_FAILED, "reaches the " + text(site) + why);
  };
  if (!(mine.mask & bitOf(current)))
    fail(", whose mask does not name its lane");
  if (mine.mask & ~warp.all)
    fail(", whose mask names lanes that the block does not have");
  if (uint32_t gone = mine.mask & warp.ended)
    fail(", but " + threadName(base + unsigned(std::countr_zero(gone))) + " has ended");
  for (uint32_t rest = warp.atWarp & mine.mask; rest; rest &= rest - 1) {
    unsigned other = base + unsigned(std::countr_zero(rest));
    if (!(threads[other].site == site))
      fail(", but " + threadName(other) + " waits at the " + text(threads[other].site));
    if (meetings[other].mask != mine.mask)
      fail(", but " + threadName(other) + " has named other lanes there");
    break; // the others agreed with this one
  }
  if (uint32_t here = mine.mask & warp.atBarrier) {
    unsigned other = base + unsigned(std::countr_zero(here));
    fail(", but " + threadName(other) + " waits at the " + text(threads[other].site));
  }
  warp.atWarp |= bitOf(current);
  if ((warp.atWarp & mine.mask) == mine.mask) {
    if (const char *why = mine.work(meetings + base, mine.mask))
      fail(std::string(": ") + why);
    warp.atWarp &= ~mine.mask;
    if (mine.ordersMemory) {
      ++blockClock.now;
      if (mine.mask == warp.all)
        warp.tick = blockClock.now;
      for (uint32_t rest = mine.mask; rest; rest &= rest - 1) {
        Thread &thread = threads[base + unsigned(std::countr_zero(rest))];
        thread.laneTick = blockClock.now;
        thread.lanes = mine.mask;
      }
    }
    makeReady(current / warpLanes, mine.mask);
  }
  suspend();
}

const Meeting &myMeeting() { return meetings[current]; }

} // namespace weir::emulated
