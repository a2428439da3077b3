//===- Link.cpp - A shared object from objects in memory ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace weir {
namespace {

/// A file that exists in memory alone.
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("weir-kernels", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  MemoryFile(const MemoryFile &) = delete;

  bool valid() const { return descriptor >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

  bool write(ArrayRef<char> bytes) {
    while (!bytes.empty()) {
      ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return false;
      bytes = bytes.drop_front(written);
    }
    return true;
  }

  bool read(std::vector<char> &bytes) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    if (size <= 0)
      return false;
    bytes.resize(size);
    size_t done = 0;
    while (done < bytes.size()) {
      ssize_t count = pread(descriptor, bytes.data() + done, bytes.size() - done, done);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return false;
      done += count;
    }
    return true;
  }

private:
  int descriptor;
};

} // namespace

FailureOr<std::vector<char>> linkObjects(ArrayRef<ObjectBytes> objects, Location loc) {
  MemoryFile output;
  std::vector<std::unique_ptr<MemoryFile>> inputs;
  for (const ObjectBytes &object : objects) {
    inputs.push_back(std::make_unique<MemoryFile>());
    if (!inputs.back()->valid() || !inputs.back()->write(object))
      return emitError(loc) << "cannot keep an object in memory: " << std::strerror(errno);
  }
  if (!output.valid())
    return emitError(loc) << "cannot make a file in memory: " << std::strerror(errno);

  std::string outputPath = output.path();
  std::vector<std::string> inputPaths;
  for (auto &input : inputs)
    inputPaths.push_back(input->path());
  // The output is written in place, not mapped and renamed; one thread, which also keeps lld from removing it first.
  std::vector<const char *> arguments = {"ld.lld",   "-shared", "-Bsymbolic",  "--no-undefined", "--threads=1",
                                         "--no-mmap-output-file", "--build-id=none", "--strip-all",
                                         "-z", "noexecstack", "-o", outputPath.c_str()};
  for (const std::string &path : inputPaths)
    arguments.push_back(path.c_str());

  std::string out, errors;
  llvm::raw_string_ostream outStream(out), errorStream(errors);
  // lld keeps its state in globals.
  static std::mutex linking;
  std::lock_guard<std::mutex> lock(linking);
  lld::Result result = lld::lldMain(arguments, outStream, errorStream, {{lld::Gnu, &lld::elf::link}});
  std::vector<char> bytes;
  if (result.retCode != 0)
    return emitError(loc) << "linking the kernels failed: " << errors;
  if (!output.read(bytes))
    return emitError(loc) << "reading the linked kernels failed: " << std::strerror(errno);
  return bytes;
}

} // namespace weir
