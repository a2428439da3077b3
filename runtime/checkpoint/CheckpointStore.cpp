//===- CheckpointStore.cpp - A directory of checkpoints -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/base/Text.h"
#include "runtime/checkpoint/Leftovers.h"
#include "runtime/data/MappedFile.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weir {
namespace {

namespace fs = std::filesystem;

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The run's counters stand in both files. Other tensors of these names are not the run's.
void compareCounters(const Manifest &manifest, const SafeTensors &state) {
  for (auto [name, stated] : {std::pair("step", manifest.step), std::pair("seed", manifest.seed),
                              std::pair("total_steps", manifest.totalSteps)}) {
    auto tensor = state.tensors().find(name);
    if (tensor == state.tensors().end() || tensor->second.dtype != "I32" ||
        !tensor->second.shape.empty())
      continue;
    int32_t found;
    std::memcpy(&found, tensor->second.data, sizeof found);
    if (found != stated)
      throw std::runtime_error(concat("the ", name, " is ", found, " in ", stateFile, ", but ",
                                      stated, " in ", manifestFile));
  }
}

} // namespace

CheckpointStore::CheckpointStore(std::string directory, int keep, Disk &disk)
    : directory(std::move(directory)), keep(keep), disk(disk) {}

std::string CheckpointStore::pathOf(int64_t step) const {
  char name[40];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return (fs::path(directory) / name).string();
}

std::vector<int64_t> CheckpointStore::steps() const {
  std::vector<int64_t> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (int64_t step = stepOfName(at->path().filename().string()); step >= 0)
      found.push_back(step);
  if (error && error != std::errc::no_such_file_or_directory)
    throw Failure(isScarce(error.value()) ? Exit::device : Exit::storage,
                  concat(directory, ": cannot read the checkpoint directory: ", error.message()));
  std::sort(found.rbegin(), found.rend());
  return found;
}

void CheckpointStore::lock() {
  if (std::error_code none; !locked && fs::is_directory(directory, none))
    locked.emplace(directory);
}

void CheckpointStore::prepare(size_t bytes) {
  std::string sofar;
  std::error_code none; // a path that cannot be followed is no directory
  for (const fs::path &part : fs::path(directory)) {
    sofar = sofar.empty() ? part.string() : (fs::path(sofar) / part).string();
    if (!fs::exists(sofar, none) && disk.makeDirectory(sofar) != 0 && errno != EEXIST)
      failStorage(sofar, "create the checkpoint directory");
  }
  if (!fs::is_directory(directory, none))
    throw Failure(Exit::storage, directory + ": is no directory; --checkpoint takes one");
  std::string probe = temporaryName((fs::path(directory) / concat("probe-", getpid())).string());
  bool made = false;
  try {
    FileWriter writer(disk, probe);
    made = true;
    writer.write("weir", 4);
    writer.finish();
  } catch (const Failure &failure) {
    if (made)
      disk.removeFile(probe);
    throw Failure(failure.exit,
                  concat("the checkpoint directory cannot be written: ", failure.what()));
  }
  disk.removeFile(probe);
  lock();
  struct statvfs space;
  if (statvfs(directory.c_str(), &space) == 0 && uint64_t{space.f_bavail} * space.f_frsize < bytes)
    throw Failure(Exit::storage,
                  concat(directory, ": no space for a checkpoint: it takes ", bytes >> 10,
                         " KiB, but ", uint64_t{space.f_bavail} * space.f_frsize >> 10,
                         " KiB are free"));
}

std::string CheckpointStore::save(Manifest manifest, const std::vector<StoredTensor> &model,
                                  const std::vector<StoredTensor> &state) {
  std::string target = pathOf(manifest.step);
  clearTemporary();
  if (isTaken(target)) {
    if (isWhole(manifest.step))
      return target;
    // It is broken and stands in the way of one that is not.
    if (disk.rename(target, temporaryName(target + ".broken")) != 0)
      failStorage(target, "move the broken checkpoint away");
  }
  std::string building = temporaryName(target);
  if (disk.makeDirectory(building) != 0)
    failStorage(building, "create");
  auto writeFile = [&](const char *name, auto &&content) {
    FileWriter writer(disk, (fs::path(building) / name).string());
    content(writer);
    writer.finish();
    return Manifest::File{writer.size(), hexText(writer.hash())};
  };
  try {
    manifest.files[modelFile] =
        writeFile(modelFile, [&](FileWriter &file) { writeSafeTensors(file, model); });
    manifest.files[stateFile] =
        writeFile(stateFile, [&](FileWriter &file) { writeSafeTensors(file, state); });
    std::string text = manifest.write();
    writeFile(manifestFile, [&](FileWriter &file) { file.write(text.data(), text.size()); });
    if (disk.syncDirectory(building) != 0)
      failStorage(building, "sync");
    if (disk.rename(building, target) != 0)
      failStorage(target, "rename into place");
  } catch (...) {
    removeCheckpoint(disk, building);
    throw;
  }
  if (disk.syncDirectory(directory) != 0)
    failStorage(directory, "sync");
  whole[manifest.step] = true;
  prune();
  return target;
}

Checkpoint CheckpointStore::open(const std::string &path) {
  auto inside = [&](const char *name) { return (fs::path(path) / name).string(); };
  try {
    auto text = MappedFile::open(inside(manifestFile), Exit::storage);
    Manifest manifest = [&] {
      try {
        return Manifest::read(textOf(text->bytes()));
      } catch (const std::runtime_error &) {
        text->requireIntact();
        throw;
      }
    }();
    auto open = [&](const char *name) {
      SafeTensors file(inside(name), Exit::storage);
      const Manifest::File &stated = manifest.files[name];
      std::string hash = hexText(hashOf(file.bytes().data(), file.bytes().size()));
      file.requireIntact();
      if (file.bytes().size() != stated.size)
        throw std::runtime_error(
            concat(name, " has ", file.bytes().size(), " bytes, ", stated.size, " expected"));
      if (hash != stated.xxh3)
        throw std::runtime_error(concat(name, " does not have the hash that manifest.json states"));
      return file;
    };
    SafeTensors model = open(modelFile), state = open(stateFile);
    compareCounters(manifest, state);
    return {path, std::move(manifest), std::move(model), std::move(state)};
  } catch (const Unreadable &) {
    throw;
  } catch (const std::runtime_error &error) {
    throw Failure(Exit::storage, concat(path, " is not whole: ", error.what()));
  }
}

Checkpoint CheckpointStore::load(int64_t step) const {
  Checkpoint checkpoint = open(pathOf(step));
  if (checkpoint.manifest.step != step)
    throw Failure(Exit::storage, concat(checkpoint.path, " is not whole: manifest.json is of step ",
                                        checkpoint.manifest.step));
  return checkpoint;
}

std::optional<Checkpoint>
CheckpointStore::loadNewest(const std::function<void(const std::string &)> &say, int64_t last) {
  std::vector<int64_t> there = steps();
  std::erase_if(there, [&](int64_t step) { return step > last; });
  std::vector<std::string> reasons;
  for (int64_t step : there) {
    try {
      Checkpoint checkpoint = load(step);
      whole[step] = true;
      for (const std::string &reason : reasons)
        say(concat(reason, "; falling back to step ", step));
      return checkpoint;
    } catch (const Unreadable &) {
      throw; // it may well be whole
    } catch (const Failure &failure) {
      whole[step] = false;
      reasons.push_back(failure.what());
    }
  }
  if (!there.empty())
    throw Failure(Exit::storage, concat(directory, ": no whole checkpoint is left:\n  ",
                                        joinFew(reasons, "\n  ")));
  return std::nullopt;
}

bool CheckpointStore::hasWhole(int64_t step) { return isTaken(pathOf(step)) && isWhole(step); }

bool CheckpointStore::isWhole(int64_t step) {
  auto known = whole.find(step);
  if (known == whole.end()) {
    bool good = true;
    try {
      load(step);
    } catch (const Unreadable &) {
      throw;
    } catch (const Failure &) {
      good = false;
    }
    known = whole.emplace(step, good).first;
  }
  return known->second;
}

void CheckpointStore::clearTemporary() {
  std::vector<std::string> stale;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (isLeftover(at->path().filename().string()))
      stale.push_back(at->path().string());
  for (const std::string &path : stale)
    removeCheckpoint(disk, path);
}

void CheckpointStore::prune() {
  int kept = 0;
  for (int64_t step : steps()) {
    if (kept < keep) {
      try {
        kept += isWhole(step);
      } catch (const Unreadable &) {
        // Not one to rely on, and none to remove.
      }
      continue;
    }
    // Renamed first, so that a half-removed one is never taken for a checkpoint. What fails here is
    // tried again at the next save.
    std::string path = pathOf(step), away = temporaryName(path);
    if (isRealFolder(path) && disk.rename(path, away) == 0) {
      removeCheckpoint(disk, away);
      whole.erase(step);
    }
  }
}

} // namespace weir
