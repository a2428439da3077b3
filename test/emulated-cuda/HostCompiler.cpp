//===- HostCompiler.cpp - Kernels compiled by the C++ compiler of the host --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/HostCompiler.h"
#include "support/system/CpuLevel.h"
#include "test/emulated-cuda/KernelScan.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WEIR_EMULATED_DEFAULT_CXX
#define WEIR_EMULATED_DEFAULT_CXX "g++"
#endif
// The folder of this file, where kernel/ is.
#ifndef WEIR_EMULATED_SOURCE
#define WEIR_EMULATED_SOURCE "test/emulated-cuda"
#endif

asm(".pushsection .rodata\n"
    "weirEmulatedShim: .incbin \"" WEIR_EMULATED_SOURCE "/kernel/weir_emulated.h\"\n.byte 0\n"
    "weirEmulatedPrims: .incbin \"" WEIR_EMULATED_SOURCE "/kernel/weir_prims.h\"\n.byte 0\n"
    ".popsection\n");
extern "C" __attribute__((visibility("hidden"))) const char weirEmulatedShim[];
extern "C" __attribute__((visibility("hidden"))) const char weirEmulatedPrims[];

extern char **environ;

namespace weir::emulated {
namespace {

namespace fs = std::filesystem;

std::string fromEnvironment(const char *name, const std::string &otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::string compilerPath() {
  return fromEnvironment("WEIR_EMULATED_CXX", WEIR_EMULATED_DEFAULT_CXX);
}

bool wantsChecks() { return fromEnvironment("WEIR_EMULATED_MODE", "check") != "plain"; }

/// The driver's library beside this one: what kernels call is there.
std::string driverPath() {
  Dl_info info = {};
  dladdr(reinterpret_cast<void *>(&compilerPath), &info);
  return (fs::path(info.dli_fname ? info.dli_fname : "").parent_path() / "libcuda.so.1").string();
}

std::vector<std::string> optionsFor(const std::string &standard) {
  // Most kernels run for less time than they take to compile: -Og compiles a third faster than -O1.
  std::vector<std::string> options = {"-std=" + standard,
                                      "-x",
                                      "c++",
                                      "-Og",
                                      "-g0",
                                      "-fPIC",
                                      "-shared",
                                      "-nostdlib",
                                      "-w",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fno-strict-aliasing",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-fno-asynchronous-unwind-tables",
                                      "-fvisibility=hidden",
                                      "-fno-ident"};
#ifdef __x86_64__
  if (cpuLevel() >= "x86-64-v3")
    options.push_back("-march=x86-64-v3");
#endif
  if (wantsChecks()) {
    options.insert(options.end(),
                   {"-fsanitize=thread", "-fsanitize=bounds", "-DWEIR_EMULATED_CHECKED=1"});
    if (compilerPath().find("clang") != std::string::npos)
      options.insert(options.end(), {"-mllvm", "-tsan-instrument-read-before-write=1"});
  }
  return options;
}

/// 128 bits of FNV-1a, twice, from two beginnings.
struct Hash {
  uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;
  void add(const std::string &text) {
    for (unsigned char c : text + '\0') {
      a = (a ^ c) * 0x100000001b3;
      b = (b ^ c) * 0x100000001b3 + 0x9e37;
    }
  }
  std::string text() const {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(a),
                  static_cast<unsigned long long>(b));
    return digits;
  }
};

void addCompiler(Hash &hash, const std::string &standard) {
  hash.add(compilerPath());
  hash.add(weirEmulatedShim);
  hash.add(weirEmulatedPrims);
  for (const std::string &option : optionsFor(standard))
    hash.add(option);
}

Hash hashOf(const Program &program) {
  Hash hash;
  addCompiler(hash, program.standard);
  hash.add(program.name);
  hash.add(program.text);
  hash.add(program.flushesToZero ? "ftz" : "");
  for (const std::string &define : program.defines)
    hash.add(define);
  for (const auto &[name, text] : program.headers)
    hash.add(name), hash.add(text);
  return hash;
}

bool readFile(const fs::path &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  return bool(file) || !text.empty();
}

void writeFile(const fs::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary).write(text.data(), std::streamsize(text.size()));
}

/// A folder that goes with the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = fromEnvironment("TMPDIR", "/tmp") + "/weir-emulated-XXXXXX";
    if (mkdtemp(pattern.data()))
      path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty())
      fs::remove_all(path, ignored);
  }
  fs::path path;
};

/// The exit status, or -1; what the program says goes to `log`.
int runProgram(const std::vector<std::string> &words, const fs::path &log) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The program with what goes before and behind it.
std::string unitOf(const Program &program) {
  std::string unit = "#include \"weir_emulated.h\"\n#line 1 \"" + program.name + "\"\n" +
                     program.text + "\n#line 1 \"weir_emulated_table\"\n";
  std::vector<KernelName> kernels = scanKernels(program.text);
  unit += "static const WeirEmulatedEntry weirEmulatedEntries[] = {\n";
  for (const KernelName &kernel : kernels)
    unit +=
        "  WEIR_EMULATED_ENTRY(" + kernel.name + ", " + std::to_string(kernel.maxThreads) + "),\n";
  unit += "  {nullptr, nullptr, nullptr, 0, 0}};\n"
          "extern \"C\" __attribute__((visibility(\"default\")))\n"
          "const WeirEmulatedTable weirEmulatedKernels = {1, " +
          std::to_string(kernels.size()) + ", " + (wantsChecks() ? "1" : "0") + ", " +
          (program.flushesToZero ? "1" : "0") +
          ", weirEmulatedEntries, __start_weir_static_shared, __stop_weir_static_shared};\n";
  return unit;
}

Compiled compileNow(const Program &program) {
  Compiled result;
  TemporaryFolder folder;
  if (folder.path.empty()) {
    result.log =
        "cannot make a folder in $TMPDIR or /tmp: name one that can be written in TMPDIR\n";
    result.hasNoCompiler = true;
    return result;
  }
  for (const auto &[name, text] : program.headers) {
    if (fs::path place = folder.path / name; name.find("..") == std::string::npos) {
      fs::create_directories(place.parent_path());
      writeFile(place, text);
    }
  }
  writeFile(folder.path / "weir_prims.h", weirEmulatedPrims);
  writeFile(folder.path / "weir_emulated.h", weirEmulatedShim);
  writeFile(folder.path / "weir_emulated_unit.cpp", unitOf(program));

  std::vector<std::string> words = {compilerPath()};
  for (const std::string &option : optionsFor(program.standard))
    words.push_back(option);
  words.insert(words.end(), program.defines.begin(), program.defines.end());
  fs::path code = folder.path / "kernel.so", log = folder.path / "log";
  words.insert(words.end(), {"-I", folder.path.string(), "-o", code.string(),
                             (folder.path / "weir_emulated_unit.cpp").string(), "-x", "none",
                             "-Wl,-z,now", driverPath(), "-lm"});
  int status = runProgram(words, log);
  readFile(log, result.log);
  if (status == -1 || status == 127) {
    result.log += "cannot run " + compilerPath() +
                  ", which compiles kernels for the emulated GPU: install Debian's package g++, or "
                  "name a compiler in WEIR_EMULATED_CXX\n";
    result.hasNoCompiler = true;
  }
  result.isRight = status == 0 && readFile(code, result.code);
  return result;
}

/// Under a name of its own first: others read the folder, too.
void store(const fs::path &place, const std::string &code) {
  std::error_code ignored;
  fs::create_directories(place.parent_path(), ignored);
  fs::path part = place.string() + "." + std::to_string(getpid()) + "." +
                  std::to_string(reinterpret_cast<uintptr_t>(&code));
  writeFile(part, code);
  fs::rename(part, place, ignored);
}

} // namespace

unsigned compilerVersion() {
  Hash hash;
  addCompiler(hash, "c++17");
  return unsigned(hash.a % 1000000);
}

Compiled compileForHost(const Program &program) {
  static std::mutex mutex;
  static std::map<std::string, Compiled> known;
  std::string key = hashOf(program).text();
  {
    std::lock_guard lock(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  std::string folder = fromEnvironment("WEIR_EMULATED_CACHE", "");
  fs::path place = folder.empty() ? fs::path() : fs::path(folder) / (key + ".so");
  Compiled result;
  result.isRight = !place.empty() && readFile(place, result.code);
  if (!result.isRight) {
    result = compileNow(program);
    if (result.isRight && !place.empty())
      store(place, result.code);
  }
  std::lock_guard lock(mutex);
  return known[key] = std::move(result);
}

} // namespace weir::emulated
