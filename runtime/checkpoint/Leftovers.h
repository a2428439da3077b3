//===- Leftovers.h - What a save may remove -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint directory is the user's: it may hold links, notes and folders of any name. Removed
// are only the files that a save writes, in a folder that a save named. No link is followed.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_LEFTOVERS_H
#define WEIR_RUNTIME_CHECKPOINT_LEFTOVERS_H

#include "runtime/checkpoint/Disk.h"
#include <cstdint>

namespace weir {

/// The files of a checkpoint.
constexpr const char *modelFile = "model.safetensors", *stateFile = "state.safetensors",
                     *manifestFile = "manifest.json";

/// The step of a name such as "step-00000100", of at least eight digits, or -1.
int64_t stepOfName(const std::string &name);

/// Whether a save calls something so that is not finished or no longer kept: step-00000100.tmp,
/// step-00000100.broken.tmp, and with a number before .tmp where that was taken.
bool isLeftover(const std::string &name);

/// `path` with .tmp behind it, or a number and .tmp where there is already something, even a link
/// that leads nowhere.
std::string temporaryName(const std::string &path);

/// Whether there is a folder, and not a link to one.
bool isRealFolder(const std::string &path);

/// Whether there is anything, even a link that leads nowhere.
bool isTaken(const std::string &path);

/// Removes a checkpoint's files from the folder, and the folder where nothing else is in it. What
/// fails is left.
void removeCheckpoint(Disk &disk, const std::string &path);

} // namespace weir

#endif
