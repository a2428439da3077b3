//===- Artifact.cpp - Any bytes as an artifact --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes the checks is described and made ready to run, with its own machine code: only
// running is left out, for code may do anything. The mutator changes the program's tables and mends
// the hash.
//
//===----------------------------------------------------------------------===//

#include "artifact/Actions.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "runtime/devices/Devices.h"
#include "runtime/run/Ports.h"
#include "support/Error.h"
#include "test/fuzz/Artifact_bfbs_generated.h"
#include "test/fuzz/SchemaTree.h"
#include "test/fuzz/Target.h"
#include "tools/weir/inspect/Describe.h"
#include <cstring>

using namespace weir;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  static const fuzz::SchemaTree schema(artifact::ProgramBinarySchema::data());
  constexpr size_t header = sizeof(artifact::Header);
  std::minstd_rand random(seed);
  std::optional<fuzz::Node> program;
  if (size > header && random() % 16)
    program = schema.read(data + header, size - header);
  if (!program)
    return LLVMFuzzerMutate(data, size, most);
  for (size_t count = 1 + random() % 3; count > 0; --count)
    schema.mutate(*program, random);
  std::vector<uint8_t> payload = schema.write(*program);
  std::vector<std::byte> file = artifact::wrap(std::as_bytes(std::span(payload)));
  if (file.size() > most)
    return size;
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

/// Nothing large is allocated for the sake of a number in a file.
static bool isSmall(const artifact::Program &program) {
  constexpr uint64_t most = 64 << 20;
  return artifact::deviceOf(program).arena() < most &&
         artifact::deviceOf(program).thread_scratch() < most;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // As the tools read it: aligned, and with nothing behind it.
  std::span<const std::byte> bytes = fuzz::bytesOf(data, size);
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  try {
    const artifact::Program &plan = artifact::verify(file);
    describe(plan).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (!isSmall(plan))
      return 0;
    ProgramOptions options;
    options.device.threads = 1;
    Program program(file, makeDevice, options);
    for (const artifact::Entry *entry : *program.plan().entries()) {
      inputSpecs(*entry);
      if (entry->inputs()->size())
        entryRows(*entry);
      Outputs outputs(program, *entry);
      outputs.clear();
      outputs.add();
      outputs.ratios();
    }
  } catch (const Failure &failure) {
    fuzz::require(failure.exit == Exit::model || failure.exit == Exit::device,
                  "what is wrong with the artifact is its fault");
  }
  return 0;
}
