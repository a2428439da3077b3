//===- Link.cpp - A shared object from objects in memory ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/SystemError.h"
#include "codegen/cpu/Lower.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <system_error>
#include <thread>
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

private:
  int descriptor;
};

/// A pipe, and a thread that keeps what is written to it. lld replaces regular files by renaming
/// temporary ones beside them, which files in memory have no room for; to anything else it writes
/// in place.
class Collector {
public:
  Collector() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      reason = errno;
      return;
    }
    readEnd = ends[0];
    writeEnd = ends[1];
    try {
      thread = std::thread([this] { collect(); });
    } catch (const std::system_error &error) {
      reason = error.code().value();
      close(writeEnd);
      close(readEnd);
    }
  }
  ~Collector() { finish(); }
  Collector(const Collector &) = delete;

  /// Why there is no pipe, or no thread; 0 where there is.
  int error() const { return reason; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(writeEnd); }

  /// All that was written; nothing may be written after.
  std::vector<char> finish() {
    if (thread.joinable()) {
      close(writeEnd);
      thread.join();
      close(readEnd);
    }
    return std::move(bytes);
  }

private:
  void collect() {
    char buffer[1 << 16];
    while (true) {
      ssize_t count = read(readEnd, buffer, sizeof buffer);
      if (count > 0)
        bytes.insert(bytes.end(), buffer, buffer + count);
      else if (count == 0 || errno != EINTR)
        return;
    }
  }

  int readEnd = -1, writeEnd = -1, reason = 0;
  std::vector<char> bytes;
  std::thread thread;
};

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archiveOf(ArrayRef<ObjectBytes> objects) {
  std::vector<std::string> names;
  for (size_t i = 0; i < objects.size(); ++i)
    names.push_back(std::to_string(i) + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (auto [object, name] : llvm::zip_equal(objects, names))
    members.emplace_back(llvm::MemoryBufferRef({object.data(), object.size()}, name));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                    llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                    /*Thin=*/false);
}

} // namespace

FailureOr<std::vector<char>> linkObjects(ArrayRef<ObjectBytes> objects, ArrayRef<LinkedName> names,
                                         Location loc) {
  constexpr llvm::StringLiteral what = "cannot link the kernels";
  Collector output;
  if (output.error())
    return emitSystemError(loc, output.error(), what);
  // One file, however many objects there are: a process may open few.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = archiveOf(objects);
  if (!archive)
    return emitError(loc) << what << ": " << llvm::toString(archive.takeError());
  MemoryFile input;
  if (!input.valid() || !input.write((*archive)->getBuffer()))
    return emitSystemError(loc, errno, what);

  std::string outputPath = output.path();
  std::string inputPath = input.path();
  std::vector<std::string> definitions;
  for (const LinkedName &name : names)
    definitions.push_back("--defsym=" + name.exported + "=" + name.function);
  std::vector<const char *> arguments = {
      "ld.lld",          "-shared",     "-Bsymbolic", "--no-undefined", "--threads=1",
      "--build-id=none", "--strip-all", "-z",         "noexecstack",    "-o",
      outputPath.c_str()};
  for (const std::string &definition : definitions)
    arguments.push_back(definition.c_str());
  arguments.insert(arguments.end(), {"--whole-archive", inputPath.c_str()});

  std::string out, errors;
  llvm::raw_string_ostream outStream(out), errorStream(errors);
  // lld keeps its state in globals.
  static std::mutex linking;
  std::lock_guard<std::mutex> lock(linking);
  lld::Result result =
      lld::lldMain(arguments, outStream, errorStream, {{lld::Gnu, &lld::elf::link}});
  std::vector<char> bytes = output.finish();
  for (int reason : {EMFILE, ENFILE, ENOMEM})
    if (result.retCode != 0 && StringRef(errors).contains(std::strerror(reason)))
      return emitSystemError(loc, reason, what);
  if (result.retCode != 0 || bytes.empty())
    return emitError(loc) << "linking the kernels failed: " << errors;
  return bytes;
}

} // namespace weir
