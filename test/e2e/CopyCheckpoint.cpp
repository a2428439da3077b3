//===- CopyCheckpoint.cpp - A checkpoint from one mesh to another ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// copy-checkpoint ARTIFACT FROM TO: loads the newest checkpoint in FROM as the artifact's ranks
// keep it, and saves what they have then to TO. Started by a launcher, it is one of the ranks.
// Files that are the same show that what was loaded is what had been saved.
//
//===----------------------------------------------------------------------===//

#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/report/Say.h"
#include "runtime/run/OpenDevice.h"
#include "runtime/run/launch/Distributed.h"
#include "tools/common/Files.h"
#include <cstdio>

using namespace weir;

int main(int argc, char **argv) try {
  if (argc != 4)
    return 2;
  std::vector<std::byte> artifact = readArtifact(argv[1]);
  RunOptions options;
  options.device.threads = 1;
  Exit exit = runDistributed(
      options, {artifact::meshOf(artifact::verify(artifact))}, [&](const RunOptions &own) {
        Program program(std::move(artifact), openDevice, {.device = own.device});
        Ranks ranks{own.device.group, &program.variables()};
        Disk disk;
        auto checkpoint = CheckpointStore(argv[2], 1, disk, ranks).loadNewest(say);
        if (!checkpoint)
          return Exit::storage;
        restore(program.variables(), checkpoint->model);
        restore(program.variables(), checkpoint->state);
        CheckpointStore store(argv[3], 1, disk, ranks);
        store.prepare(1);
        store.save(checkpoint->manifest, storedParameters(program.variables()),
                   storedState(program.variables()));
        return Exit::ok;
      });
  return static_cast<int>(exit);
} catch (const Failure &failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return static_cast<int>(failure.exit);
}
