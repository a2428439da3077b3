//===- Shadow.cpp - Who last touched each two bytes, and whether any may --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Shadow.h"
#include "test/emulated-cuda/Arena.h"
#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Fibers.h"
#include "test/emulated-cuda/Options.h"
#include "test/emulated-cuda/Stamp.h"
#include <algorithm>
#include <cstring>

namespace weir::emulated {

extern "C" {
// The dynamic shared array of the block that runs, then room that nobody may use.
__attribute__((visibility("default"),
               aligned(1024))) uint8_t weirEmulatedShared[sharedLimit + 1024];
}

namespace {

constexpr size_t staticCells = (48 << 10) / 2;
constexpr unsigned mostLines = 4; ///< of one launch

struct Cell {
  Stamp writer, reader;
};

Cell *cells = nullptr; ///< of the arena
Cell sharedCells[sharedLimit / 2 + staticCells];

// What runs now.
std::string name;
SerialRange mine;
std::vector<SerialRange> unordered;
bool inKernel = false;
int onDevice = 0;
uint32_t serial = 0;
Stamp stamp;
unsigned dynamicShared = 0, faults = 0;
ImageRanges image;

struct Past {
  SerialRange range;
  std::string name;
};
std::vector<Past> past; ///< by their serial numbers, for reports

// Where a report is wanted: which launch touched each sector last.
constexpr size_t sectorBytes = 32;
uint32_t *sectorRead = nullptr, *sectorWritten = nullptr;
Sectors sectors;

bool reserveShadow() {
  if (!cells)
    cells = static_cast<Cell *>(reserveMemory(Arena::bytes / 2 * sizeof(Cell)));
  if (!options().report.empty() && !sectorRead) {
    sectorRead = static_cast<uint32_t *>(reserveMemory(Arena::bytes / sectorBytes * 4));
    sectorWritten = static_cast<uint32_t *>(reserveMemory(Arena::bytes / sectorBytes * 4));
  }
  return cells;
}

Cell *cellsOf(uint64_t address) { return cells + (address - arena().base) / 2; }

bool isMine(uint32_t other) { return other - mine.first < mine.count; }

/// Whether an earlier access happened before what the running thread does now; a writer is alone.
bool isOrdered(Stamp earlier, Stamp::Crowd crowd = Stamp::one) {
  uint32_t other = earlier.serial();
  if (other == 0)
    return true;
  if (!isMine(other)) {
    for (SerialRange range : unordered)
      if (other - range.first < range.count)
        return false;
    return true;
  }
  if (crowd == Stamp::blocks || other != serial)
    return false;
  if (earlier.tick() < blockClock.allTick)
    return true;
  if (crowd == Stamp::warps)
    return false;
  unsigned thread = stamp.thread();
  if (earlier.thread() == thread && crowd == Stamp::one)
    return true;
  if (earlier.thread() / warpLanes != thread / warpLanes)
    return false;
  return earlier.tick() < blockClock.warpTick ||
         (earlier.tick() < blockClock.laneTick &&
          (crowd == Stamp::lanes || (blockClock.lanes >> earlier.thread() % warpLanes & 1)));
}

bool isReaderOrdered(Stamp reader) { return isOrdered(reader, reader.crowd()); }

/// The reader's stamp after the running thread has read, too.
Stamp joined(Stamp reader) {
  Stamp next = stamp;
  if (isReaderOrdered(reader) || !isMine(reader.serial()))
    return next;
  Stamp::Crowd crowd = reader.serial() != serial                                   ? Stamp::blocks
                       : reader.thread() / warpLanes != stamp.thread() / warpLanes ? Stamp::warps
                                                                                   : Stamp::lanes;
  next.setCrowd(std::max(crowd, reader.crowd()));
  return next;
}

std::string who(Stamp other, Stamp::Crowd crowd) {
  if (isMine(other.serial()) && inKernel) {
    std::string block = "block " + std::to_string(other.serial() - mine.first);
    return crowd == Stamp::one      ? block + ", thread " + std::to_string(other.thread())
           : crowd == Stamp::blocks ? "other blocks"
                                    : "other threads";
  }
  auto after = std::upper_bound(
      past.begin(), past.end(), other.serial(),
      [](uint32_t number, const Past &entry) { return number < entry.range.first; });
  return after == past.begin() ? "what ran before" : std::prev(after)->name;
}

std::string what(uint64_t address, size_t bytes, Access access) {
  std::string place;
  uint64_t inShared = address - reinterpret_cast<uint64_t>(weirEmulatedShared);
  if (inShared < sizeof weirEmulatedShared)
    place = "+" + std::to_string(inShared) + " of " + std::to_string(dynamicShared) +
            " bytes of shared memory";
  else if (address - image.sharedBegin < image.sharedEnd - image.sharedBegin)
    place = "+" + std::to_string(address - image.sharedBegin) + " of the static shared memory";
  else
    place = arena().describe(address);
  const char *verb = access == Access::read    ? "reads "
                     : access == Access::write ? "writes "
                                               : "adds to ";
  return verb + std::to_string(bytes) + " bytes at " + place;
}

void fault(cuda::CUresult error, const std::string &text) {
  if (++faults <= mostLines)
    reportFault(error, (inKernel ? whereInGrid() : name) + ": " + text);
  else if (faults == mostLines + 1)
    note(name + ": and more of these");
}

[[gnu::noinline]] void race(uint64_t address, size_t bytes, Access access, Stamp other,
                            bool otherWrote) {
  fault(cuda::CUDA_ERROR_LAUNCH_FAILED, what(address, bytes, access) + " that " +
                                            who(other, otherWrote ? Stamp::one : other.crowd()) +
                                            (otherWrote ? " wrote" : " read") +
                                            ", with nothing to order the two");
}

[[gnu::noinline]] void unwritten(uint64_t address, size_t bytes) {
  fault(cuda::CUDA_ERROR_LAUNCH_FAILED,
        what(address, bytes, Access::read) + " that were never written");
}

/// One access, within the cells that it touches; `fresh`: cells of another block count as never
/// touched. Returns the first fault only: one access is one line.
template <bool fresh> void touch(Cell *cell, uint64_t address, size_t bytes, Access access) {
  uint64_t begin = address, end = address + bytes;
  bool told = false;
  // A byte beside another thread's: the cell cannot tell them apart.
  bool isWhole = bytes > 1;
  for (uint64_t at = begin & ~uint64_t(1); at < end; at += 2, ++cell) {
    unsigned mask = at < begin ? Stamp::second : at + 1 == end ? Stamp::first : Stamp::both;
    if (fresh) {
      if (cell->writer.serial() != serial)
        cell->writer = {};
      if (cell->reader.serial() != serial)
        cell->reader = {};
    }
    Stamp writer = cell->writer, reader = cell->reader;
    bool judged = isWhole || !isMine(writer.serial());
    if (access != Access::write && !told && (writer.written() & mask) != mask) {
      told = true;
      unwritten(begin, bytes);
    }
    if (!told && judged && !(access == Access::atomic && writer.isAtomic()) && !isOrdered(writer)) {
      told = true;
      race(begin, bytes, access, writer, true);
    }
    if (access == Access::read) {
      cell->reader = joined(reader);
      continue;
    }
    judged = isWhole || !isMine(reader.serial());
    if (!told && judged && !isReaderOrdered(reader)) {
      told = true;
      race(begin, bytes, access, reader, false);
    }
    cell->writer = stamp.wrote(writer.written() | mask, access == Access::atomic);
  }
}

void countSectors(uint64_t address, size_t bytes, Access access) {
  uint64_t offset = address - arena().base;
  for (uint64_t s = offset / sectorBytes; s <= (offset + bytes - 1) / sectorBytes; ++s) {
    if (access != Access::write && sectorRead[s] != mine.first) {
      sectorRead[s] = mine.first;
      ++sectors.read;
    }
    if (access != Access::read && sectorWritten[s] != mine.first) {
      sectorWritten[s] = mine.first;
      ++sectors.written;
    }
  }
}

[[gnu::noinline]] void accessElsewhere(uint64_t address, size_t bytes, Access access) {
  if (isOnStack(address) ||
      address - reinterpret_cast<uint64_t>(&weirEmulatedPlace) < sizeof weirEmulatedPlace)
    return;
  if (address - image.sharedBegin < image.sharedEnd - image.sharedBegin) {
    size_t cell = (address - image.sharedBegin) / 2;
    if (cell < staticCells)
      touch<true>(sharedCells + sharedLimit / 2 + cell, address, bytes, access);
    return;
  }
  if (address - image.begin < image.end - image.begin && access == Access::read)
    return;
  failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS, what(address, bytes, access));
}

} // namespace

void shadowAccess(uint64_t address, size_t bytes, Access access, bool aligned) {
  if (!options().checked || !bytes)
    return;
  if (aligned && address % bytes)
    failThread(cuda::CUDA_ERROR_MISALIGNED_ADDRESS,
               what(address, bytes, access) + ", which is not aligned");
  const Arena &memory = arena();
  uint64_t offset = address - memory.base;
  if (offset < Arena::bytes) {
    uint64_t inGranule = offset % Arena::granule;
    bool inside = inGranule + bytes <= Arena::granule
                      ? inGranule + bytes <= memory.valid[offset / Arena::granule] &&
                            memory.owner[offset / Arena::granule] == onDevice
                      : memory.isAllocated(address, bytes, onDevice);
    if (!inside)
      failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                 what(address, bytes, access) + ", beyond every allocation");
    if (sectorRead)
      countSectors(address, bytes, access);
    return touch<false>(cellsOf(address), address, bytes, access);
  }
  uint64_t inShared = address - reinterpret_cast<uint64_t>(weirEmulatedShared);
  if (inShared < sizeof weirEmulatedShared) {
    if (inShared + bytes > dynamicShared)
      failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                 what(address, bytes, access) + ", beyond what the launch asked for");
    return touch<true>(sharedCells + inShared / 2, address, bytes, access);
  }
  accessElsewhere(address, bytes, access);
}

void shadowUnwrite(uint64_t address, size_t bytes) {
  uint64_t inShared = address - reinterpret_cast<uint64_t>(weirEmulatedShared);
  if (options().checked)
    for (size_t i = 0; i < bytes / 2; ++i)
      sharedCells[inShared / 2 + i].writer = stamp.wrote(0, false);
}

SerialRange shadowBegin(const std::string &what, uint32_t count, std::vector<SerialRange> without,
                        int device) {
  name = what;
  onDevice = device;
  mine = {past.empty() ? 1 : past.back().range.first + past.back().range.count, count};
  past.push_back({mine, what});
  unordered = std::move(without);
  inKernel = false;
  faults = 0;
  sectors = {};
  serial = mine.first;
  blockClock = {};
  stamp = Stamp(serial, 0, 0);
  if (options().checked)
    reserveShadow();
  return mine;
}

void shadowBlock(unsigned index, unsigned sharedBytes) {
  inKernel = true;
  serial = mine.first + index;
  dynamicShared = sharedBytes;
  std::memset(weirEmulatedShared, 0xff, sharedBytes);
  if (image.sharedEnd > image.sharedBegin)
    std::memset(reinterpret_cast<void *>(image.sharedBegin), 0xff,
                image.sharedEnd - image.sharedBegin);
}

void shadowThread(unsigned thread) { stamp = Stamp(serial, thread, blockClock.now); }

void shadowForget(uint64_t address, size_t bytes) {
  if (cells)
    clearMemory(cellsOf(address), bytes / 2 * sizeof(Cell));
}

void shadowRange(uint64_t address, size_t bytes, Access access, Unwritten unwrittenIs) {
  if (!options().checked || !bytes || !arena().contains(address))
    return;
  if (!arena().isAllocated(address, bytes, onDevice))
    return fault(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                 what(address, bytes, access) + ", beyond the allocation");
  if (sectorRead)
    countSectors(address, bytes, access);
  Cell *cell = cellsOf(address);
  uint64_t first = address & ~uint64_t(1), end = address + bytes;
  bool anyWritten = false, allWritten = true, told = false;
  // Of another launch, its serial number decides, and neighbours were mostly touched by one block.
  uint32_t ordered = 0;
  auto isRace = [&](Stamp earlier) {
    if (earlier.serial() == ordered || isMine(earlier.serial()))
      return false;
    if (!isOrdered(earlier))
      return true;
    ordered = earlier.serial();
    return false;
  };
  for (uint64_t at = first; at < end; at += 2, ++cell) {
    unsigned mask = at < address ? Stamp::second : at + 1 == end ? Stamp::first : Stamp::both;
    Stamp writer = cell->writer;
    anyWritten |= (writer.written() & mask) != 0;
    allWritten &= (writer.written() & mask) == mask;
    if (!told && isRace(writer)) {
      told = true;
      race(at, bytes - (at - first), access, writer, true);
    }
    if (access == Access::read) {
      cell->reader = stamp;
      continue;
    }
    if (!told && isRace(cell->reader)) {
      told = true;
      race(at, bytes - (at - first), access, cell->reader, false);
    }
    cell->writer = stamp.wrote(writer.written() | mask, false);
  }
  if (access == Access::read && unwrittenIs != Unwritten::allowed &&
      (unwrittenIs == Unwritten::allowedInPart ? !anyWritten : !allWritten))
    unwritten(address, bytes);
}

void shadowCopy(uint64_t to, uint64_t from, size_t bytes) {
  if (!options().checked || !bytes)
    return;
  shadowRange(from, bytes, Access::read, Unwritten::allowed);
  if (!arena().isAllocated(from, bytes, onDevice) || !arena().isAllocated(to, bytes, onDevice))
    return shadowRange(to, bytes, Access::write);
  std::vector<uint8_t> written((bytes + 1) / 2);
  for (size_t i = 0; i < written.size(); ++i)
    written[i] = uint8_t(cellsOf(from)[i].writer.written());
  shadowRange(to, bytes, Access::write);
  // What was never written may move: whoever reads it there is told.
  for (size_t i = 0; i < written.size(); ++i)
    cellsOf(to)[i].writer = stamp.wrote(written[i], false);
}

void shadowImage(const ImageRanges &ranges) { image = ranges; }

unsigned shadowFaults() { return faults; }

Sectors shadowSectors() { return sectors; }

void resetShadow() {
  // Serial numbers go on: what memory there is was released, and nothing of it is known.
  unordered.clear();
  image = {};
}

} // namespace weir::emulated
