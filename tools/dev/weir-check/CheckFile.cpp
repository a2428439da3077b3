//===- CheckFile.cpp - Running the tests of one file ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each back end runs in a process of its own: a library can be bound to one processor level in a
// process only, and what a fault of generated code ends is then not the other back ends' run.
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-check/CheckFile.h"
#include "ir/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "tools/dev/weir-check/Backends.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace weir::check {
namespace {

std::string placeOf(Location location) {
  std::string text = "an unknown place";
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    text = place.getFilename().str() + ":" + std::to_string(place.getLine());
    return WalkResult::interrupt();
  });
  return text;
}

/// A number as its type shows it.
std::string printed(double value, Type element) {
  if (element.isInteger(1) && (value == 0 || value == 1))
    return value != 0 ? "true" : "false";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(isa<FloatType>(element) ? "%.9g" : "%.17g", value);
  return text;
}

class Run {
public:
  explicit Run(const std::string &path);
  Exit on(const Backend &backend);

private:
  int inThisProcess(const Backend &backend);
  bool report(const Backend &backend, const Situation &situation, const Outcome &outcome);
  /// What the process of a back end is doing, shared with it: a function's number, or one of these.
  enum { preparing = -1 };
  volatile int *current;

  const std::string path;
  DialectRegistry registry;
  MLIRContext context;
  llvm::SourceMgr sources;
  std::unique_ptr<SourceMgrDiagnosticHandler> diagnostics;
  OwningOpRef<ModuleOp> module;
  std::vector<Situation> situations;
};

DialectRegistry dialects() {
  DialectRegistry registry;
  registry.insert<WeirDialect, CheckDialect, func::FuncDialect>();
  registerReferenceInterpreter(registry);
  return registry;
}

Run::Run(const std::string &path)
    // Threads would not outlive a fork.
    : path(path), registry(dialects()), context(registry, MLIRContext::Threading::DISABLED) {
  void *memory =
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(Exit::device, "cannot map a page of memory: " + std::string(strerror(errno)));
  current = static_cast<volatile int *>(memory);
  context.loadAllAvailableDialects();
  std::string problem;
  auto file = openInputFile(path, &problem);
  if (!file)
    throw Failure(Exit::usage, problem);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  diagnostics = std::make_unique<SourceMgrDiagnosticHandler>(sources, &context);
  module = parseSourceFile<ModuleOp>(sources, &context);
  FailureOr<std::vector<Situation>> found = failure();
  if (module)
    found = extractSituations(*module);
  if (failed(found))
    throw Failure(Exit::model, path + " is no test that can be run; see docs/internals/testing.md");
  situations = std::move(*found);
  for (const Situation &situation : situations)
    if (situation.unsupported)
      for (NamedAttribute reason : situation.unsupported)
        if (llvm::none_of(backends(), [&](const Backend &backend) {
              return isNamedBy(backend.name, reason.getName());
            }))
          throw Failure(Exit::model, placeOf(situation.location) + ": " + unsupportedName.str() +
                                         " names no back end: " + reason.getName().str());
}

bool Run::report(const Backend &backend, const Situation &situation, const Outcome &outcome) {
  bool agrees = true;
  for (const Expectation &expectation : situation.expectations) {
    std::optional<Disagreement> wrong = disagreement(expectation, outcome);
    if (!wrong)
      continue;
    agrees = false;
    Type element = expectation.type.getElementType();
    llvm::errs() << placeOf(expectation.location) << ": @" << situation.name << " on "
                 << backend.name << ": ";
    if (!wrong->index.empty()) {
      llvm::errs() << "element [";
      llvm::interleaveComma(wrong->index, llvm::errs());
      llvm::errs() << "] ";
    }
    llvm::errs() << "should be " << printed(wrong->expected, element) << ", but is "
                 << printed(wrong->actual, element);
    if (wrong->count > 1)
      llvm::errs() << " (and " << wrong->count - 1 << " more of "
                   << expectation.type.getNumElements() << " differ)";
    llvm::errs() << "\n";
  }
  return agrees;
}

int Run::inThisProcess(const Backend &backend) {
  *current = preparing;
  OwningOpRef<ModuleOp> copy(module->clone());
  for (const Situation &situation : situations)
    if (StringRef reason = situation.unsupportedBy(backend.name); !reason.empty()) {
      llvm::errs() << placeOf(situation.location) << ": @" << situation.name << " is not run on "
                   << backend.name << ": " << reason << "\n";
      copy->lookupSymbol(situation.name)->erase();
    }
  auto executable = backend.prepare(std::move(copy));
  if (!executable) {
    llvm::errs() << path << ": " << backend.name << " does not take this file\n";
    return 1;
  }
  unsigned right = 0, tried = 0;
  for (const Situation &situation : situations) {
    if (!situation.unsupportedBy(backend.name).empty())
      continue;
    ++tried;
    *current = &situation - situations.data();
    FailureOr<Outcome> outcome = executable->run(situation);
    if (failed(outcome))
      llvm::errs() << placeOf(situation.location) << ": @" << situation.name << " cannot be run on "
                   << backend.name << "\n";
    else
      right += report(backend, situation, *outcome);
  }
  llvm::outs() << path << ": " << right << " of " << tried << " functions as expected on "
               << backend.name << "\n";
  llvm::outs().flush();
  return right == tried ? 0 : 1;
}

Exit Run::on(const Backend &backend) {
  llvm::outs().flush();
  pid_t child = fork();
  if (child < 0)
    throw Failure(Exit::device, "cannot start a process: " + std::string(strerror(errno)));
  if (child == 0) {
    int status = 1;
    try {
      status = inThisProcess(backend);
    } catch (const std::exception &failure) {
      llvm::errs() << path << ": on " << backend.name << ": " << failure.what() << "\n";
    }
    _exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status)) {
    llvm::errs() << path << ": " << backend.name << " was ended by " << strsignal(WTERMSIG(status));
    if (*current == preparing)
      llvm::errs() << " while it compiled the file\n";
    else
      llvm::errs() << " in @" << situations[*current].name << "\n";
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Exit::ok : Exit::internal;
}

} // namespace

Exit checkFile(const std::string &path, const std::string &name) {
  SmallVector<const Backend *> chosen;
  std::string names;
  for (const Backend &backend : backends()) {
    names += (names.empty() ? "" : ", ") + backend.name.str();
    if (name.empty() || isNamedBy(backend.name, name))
      chosen.push_back(&backend);
  }
  if (chosen.empty())
    throw Failure(Exit::usage, "--backend " + name + ": expected one of " + names);
  Run run(path);
  Exit exit = Exit::ok;
  for (const Backend *backend : chosen) {
    if (std::string reason = backend->unavailable(); !reason.empty()) {
      llvm::errs() << path << ": not run on " << backend->name << ": " << reason << "\n";
      continue;
    }
    if (Exit status = run.on(*backend); status != Exit::ok)
      exit = status;
  }
  return exit;
}

std::string describeBackends() {
  std::string text;
  for (const Backend &backend : backends()) {
    std::string reason = backend.unavailable();
    text += "  " + backend.name.str() + std::string(24 - backend.name.size(), ' ') +
            backend.summary.str() + (reason.empty() ? "" : " (skipped: " + reason + ")") + "\n";
  }
  return text;
}

} // namespace weir::check
