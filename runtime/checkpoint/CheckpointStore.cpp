//===- CheckpointStore.cpp - A directory of checkpoints -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/checkpoint/Leftovers.h"
#include "runtime/data/MappedFile.h"
#include "support/Text.h"
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

constexpr const char *oneFolder = " give all ranks the same directory on a shared file system";

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

CheckpointStore::CheckpointStore(std::string directory, int keep, Disk &disk, const Ranks &ranks)
    : directory(std::move(directory)), keep(keep), disk(disk), ranks(ranks) {}

std::string CheckpointStore::pathOf(const std::string &directory, int64_t step) {
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

/// What the first process sees; with `allSeeThem` it is an error where another does not.
std::vector<int64_t> CheckpointStore::stepsOfFirst(bool allSeeThem) const {
  std::vector<int64_t> own;
  ranks.allOrNone("the search for checkpoints", [&] { own = steps(); });
  std::string text(reinterpret_cast<const char *>(own.data()), own.size() * sizeof(int64_t));
  text = ranks.ofFirst("the search for checkpoints", text);
  std::vector<int64_t> there(text.size() / sizeof(int64_t));
  std::ranges::copy(text, reinterpret_cast<char *>(there.data()));
  ranks.allOrNone("the search for checkpoints", [&] {
    for (int64_t step : there)
      if (allSeeThem && !std::ranges::count(own, step))
        throw Failure(Exit::usage, pathOf(step) +
                                       ": rank 0 sees this checkpoint, but this rank does not;" +
                                       oneFolder);
  });
  return there;
}

void CheckpointStore::lock() {
  if (std::error_code none; ranks.isFirst() && !locked && fs::is_directory(directory, none))
    locked.emplace(directory);
}

void CheckpointStore::prepare(size_t bytes) {
  const char *what = "the check of the checkpoint directory";
  std::string probe;
  ranks.allOrNone(what, [&] {
    if (!ranks.isFirst())
      return;
    makeDirectories();
    probe = makeProbe();
  });
  struct Remove {
    CheckpointStore &store;
    const std::string &probe;
    ~Remove() {
      if (store.ranks.isFirst())
        store.disk.removeFile(probe);
    }
  };
  {
    Remove remove{*this, probe};
    std::string name = ranks.ofFirst(what, fs::path(probe).filename().string());
    ranks.allOrNone(what, [&] {
      if (!ranks.isFirst())
        findProbe((fs::path(directory) / name).string());
    });
  }
  ranks.allOrNone(what, [&] {
    lock();
    struct statvfs space;
    if (ranks.isFirst() && statvfs(directory.c_str(), &space) == 0 &&
        uint64_t{space.f_bavail} * space.f_frsize < bytes)
      throw Failure(Exit::storage,
                    concat(directory, ": not enough space for a checkpoint: it needs ", bytes >> 10,
                           " KiB, but only ", uint64_t{space.f_bavail} * space.f_frsize >> 10,
                           " KiB are free; free some space, or give another directory"));
  });
}

void CheckpointStore::makeDirectories() {
  std::string sofar;
  std::error_code none; // a path that cannot be followed is no directory
  for (const fs::path &part : fs::path(directory)) {
    sofar = sofar.empty() ? part.string() : (fs::path(sofar) / part).string();
    if (!fs::exists(sofar, none) && disk.makeDirectory(sofar) != 0 && errno != EEXIST)
      failStorage(sofar, "create the checkpoint directory");
  }
  if (!fs::is_directory(directory, none))
    throw Failure(Exit::storage, directory + ": is not a directory; give --checkpoint a directory");
}

/// A file as a save would write it. Returns its path.
std::string CheckpointStore::makeProbe() {
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
                  concat("cannot write to the checkpoint directory: ", failure.what()));
  }
  return probe;
}

/// That a file which the first process has made can be written by this one too.
void CheckpointStore::findProbe(const std::string &probe) {
  int file = disk.open(probe);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
    throw Failure(Exit::usage, directory + ": is not the same directory as on rank 0;" + oneFolder);
  if (file < 0)
    failStorage(probe, "write the checkpoint directory");
  disk.close(file);
}

std::string CheckpointStore::save(const Manifest &manifest, const std::vector<StoredTensor> &model,
                                  const std::vector<StoredTensor> &state) {
  if (std::unique_ptr<Saving> saving = begin(manifest, model, state)) {
    saving->write();
    finish(*saving);
  }
  return pathOf(manifest.step);
}

std::unique_ptr<Saving> CheckpointStore::begin(const Manifest &manifest,
                                               const std::vector<StoredTensor> &model,
                                               const std::vector<StoredTensor> &state) {
  const char *what = "the start of a checkpoint";
  std::string target = pathOf(manifest.step), building;
  bool isThere = !ranks.ofFirst(what, isTaken(target) ? "taken" : "").empty();
  if (isThere && isWhole(manifest.step))
    return nullptr;
  ranks.allOrNone(what, [&] {
    if (!ranks.isFirst())
      return;
    clearTemporary();
    // It is broken and stands in the way of one that is not.
    if (isThere && disk.rename(target, temporaryName(target + ".broken")) != 0)
      failStorage(target, "move the broken checkpoint away");
    building = temporaryName(target);
  });
  building = ranks.ofFirst(what, fs::path(building).filename().string());
  auto saving = std::make_unique<Saving>(
      disk, ranks.isFirst(), (fs::path(directory) / building).string(), manifest, model, state);
  ranks.allOrNone(what, [&] {
    if (ranks.isFirst())
      saving->create();
  });
  ranks.allOrNone(what, [&] { saving->open(); });
  return saving;
}

void CheckpointStore::finish(Saving &saving) {
  const char *what = "the end of a checkpoint";
  ranks.allOrNone(what, [&] { saving.requireWritten(); });
  std::map<std::string, uint64_t> sums;
  for (const char *name : {modelFile, stateFile})
    sums[name] = ranks.added(what, saving.sumOf(name));
  ranks.allOrNone(what, [&] {
    if (!ranks.isFirst())
      return;
    saving.finish(sums, pathOf(saving.step()));
    if (disk.syncDirectory(directory) != 0)
      failStorage(directory, "sync");
  });
  whole[saving.step()] = true;
  prune();
}

/// What this process can tell of a checkpoint alone, and the sums of its bytes of the files.
static Checkpoint openAlone(const std::string &path, const Ranks &ranks,
                            std::map<std::string, uint64_t> &sums) {
  auto inside = [&](const char *name) { return (fs::path(path) / name).string(); };
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
    if (!stated.sum.empty())
      sums[name] =
          sumOfOwned(file.bytes(), file.tensors(), std::string_view(name) == modelFile, ranks);
    else if (ranks.isFirst()) // format 1, whose hash is of the whole: 0 where it is right
      sums[name] = hexText(hashOf(file.bytes().data(), file.bytes().size())) != stated.xxh3;
    file.requireIntact();
    if (file.bytes().size() != stated.size)
      throw std::runtime_error(
          concat(name, " has ", file.bytes().size(), " bytes, ", stated.size, " expected"));
    return file;
  };
  SafeTensors model = open(modelFile), state = open(stateFile);
  return {path, std::move(manifest), std::move(model), std::move(state)};
}

Checkpoint CheckpointStore::open(const std::string &path, const Ranks &ranks) {
  const char *what = "the load of a checkpoint";
  auto asNotWhole = [&](auto &&body) {
    try {
      body();
    } catch (const Unreadable &) {
      throw;
    } catch (const std::runtime_error &error) {
      throw Failure(Exit::storage, concat(path, " is incomplete or damaged: ", error.what()));
    }
  };
  std::optional<Checkpoint> found;
  std::map<std::string, uint64_t> sums{{modelFile, 0}, {stateFile, 0}};
  ranks.allOrNone(what, [&] { asNotWhole([&] { found.emplace(openAlone(path, ranks, sums)); }); });
  // Each rank verifies a part of the files, which have to be the same ones for that.
  ranks.requireSame(what, concat("checkpoint at ", path), found->manifest.write());
  for (auto &[name, sum] : sums)
    sum = ranks.added(what, sum);
  auto compare = [&] {
    for (const auto &[name, sum] : sums)
      if (const Manifest::File &stated = found->manifest.files[name];
          stated.sum.empty() ? sum != 0 : hexText(sum) != stated.sum)
        throw std::runtime_error(name + " does not match its hash in manifest.json");
    compareCounters(found->manifest, found->state);
    found->state.requireIntact(); // the counters may be another rank's to sum up
  };
  ranks.allOrNone(what, [&] { asNotWhole(compare); });
  return std::move(*found);
}

Checkpoint CheckpointStore::load(int64_t step) const {
  Checkpoint checkpoint = open(pathOf(step), ranks);
  if (checkpoint.manifest.step != step)
    throw Failure(Exit::storage,
                  concat(checkpoint.path, " is incomplete or damaged: manifest.json is for step ",
                         checkpoint.manifest.step));
  return checkpoint;
}

std::optional<Checkpoint>
CheckpointStore::loadNewest(const std::function<void(const std::string &)> &say, int64_t last) {
  std::vector<int64_t> there = stepsOfFirst(/*allSeeThem=*/true);
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
    } catch (const GroupFailure &) {
      throw;
    } catch (const Failure &failure) {
      if (failure.exit == Exit::usage) // ranks see different ones
        throw;
      whole[step] = false;
      reasons.push_back(failure.what());
    }
  }
  if (!there.empty())
    throw Failure(Exit::storage, concat(directory, ": no intact checkpoint is left:\n  ",
                                        joinFew(reasons, "\n  ")));
  return std::nullopt;
}

bool CheckpointStore::isWhole(int64_t step) {
  auto known = whole.find(step);
  if (known == whole.end()) {
    bool good = true;
    try {
      load(step);
    } catch (const Unreadable &) {
      throw;
    } catch (const GroupFailure &) {
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
  for (int64_t step : stepsOfFirst(/*allSeeThem=*/false)) {
    if (kept < keep) {
      try {
        kept += isWhole(step);
      } catch (const Unreadable &) {
        // Not one to rely on, and none to remove.
      }
      continue;
    }
    whole.erase(step);
    if (!ranks.isFirst())
      continue;
    // Renamed first, so that a half-removed one is never taken for a checkpoint. What fails here is
    // tried again at the next save.
    std::string path = pathOf(step), away = temporaryName(path);
    if (isRealFolder(path) && disk.rename(path, away) == 0)
      removeCheckpoint(disk, away);
  }
}

} // namespace weir
