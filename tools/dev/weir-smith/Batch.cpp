//===- Batch.cpp - Many programs, or one again ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every program runs in a process of its own, since what is looked for may crash. Workers are
// processes too; each sends a line per program to the first process, which adds up.
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Batch.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "tools/dev/weir-smith/Check.h"
#include "tools/dev/weir-smith/Forked.h"
#include "tools/dev/weir-smith/Generate.h"
#include "tools/dev/weir-smith/Shrink.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace weir::smith {
namespace {

constexpr int mostAttempts = 60, shrinkBudget = 600;
constexpr unsigned programSeconds = 60;

struct Context : MLIRContext {
  Context() : MLIRContext(registry(), Threading::DISABLED) { loadAllAvailableDialects(); }
  static const DialectRegistry &registry() {
    static const DialectRegistry all = [] {
      DialectRegistry all;
      setUp(all);
      return all;
    }();
    return all;
  }
};

uint64_t attemptSeed(uint64_t seed, uint64_t attempt) { return seed * 1000 + attempt; }

void collectOps(ModuleOp module, llvm::StringSet<> &names) {
  module.walk([&](Operation *op) {
    if (isa<WeirDialect>(op->getDialect()))
      names.insert(op->getName().stripDialect());
  });
}

std::string joined(const llvm::StringSet<> &names) {
  std::string text;
  for (const auto &name : names)
    text += " " + name.getKey().str();
  return text;
}

/// One program's way, put together from the lines that its process sent.
struct Report {
  std::string kind = "crash", stage = "start", message;
  uint64_t attempt = 0;
  std::string ops, passes, bits;

  bool fails() const { return kind == "fails" || kind == "crash"; }
  bool sameFailure(const Report &other) const {
    return other.fails() && kind == other.kind && stage == other.stage;
  }
};

Report readReport(const ForkResult &result) {
  Report report;
  for (const std::string &line : result.lines) {
    std::string text = line.size() > 2 ? line.substr(2) : "";
    switch (line[0]) {
    case 'A':
      report.attempt = std::stoull(text);
      report.message.clear();
      break;
    case 'S':
      report.stage = text;
      break;
    case 'O':
      report.ops = text;
      break;
    case 'P':
      report.passes = text;
      break;
    case 'B':
      report.bits = text;
      break;
    case 'K':
      report.kind = text;
      break;
    case 'M':
      report.message += (report.message.empty() ? "" : "\n") + text;
      break;
    }
  }
  if (report.kind == "crash")
    report.message = result.death;
  return report;
}

using Send = std::function<void(std::string)>;

bool checkAndSend(ModuleOp module, const CompileFor &code, const std::string &until,
                  const Send &send) {
  llvm::StringSet<> ops, passes;
  collectOps(module, ops);
  CheckOptions options;
  options.code = code;
  options.until = until;
  options.onStage = [&](StringRef stage) { send("S " + stage.str()); };
  options.onChange = [&](StringRef pass, ModuleOp after) {
    passes.insert(pass);
    collectOps(after, ops);
  };
  Outcome outcome;
  try {
    outcome = check(module, options);
  } catch (const std::bad_alloc &) {
    outcome = {Outcome::Kind::refused, "", "it needs more memory than there is"};
  }
  if (outcome.kind == Outcome::Kind::refused) {
    send("M " + outcome.message);
    return false;
  }
  send("O" + joined(ops));
  send("P" + joined(passes));
  if (outcome.bits)
    send("B " + llvm::utohexstr(outcome.bits));
  SmallVector<StringRef> lines;
  StringRef(outcome.message).split(lines, '\n', -1, false);
  for (StringRef line : lines)
    send("M " + line.str());
  send(outcome.kind == Outcome::Kind::agrees ? "K agrees" : "K fails");
  return true;
}

Report runSeed(uint64_t seed, const CompileFor &code) {
  return readReport(runForked(
      [&](const Send &send) {
        for (int attempt = 0; attempt < mostAttempts; ++attempt) {
          send("A " + std::to_string(attempt));
          send("S generate");
          Context context;
          auto module = generate(context, attemptSeed(seed, attempt));
          if (module && checkAndSend(*module, code, "", send))
            return;
        }
        send("K refused");
      },
      programSeconds));
}

Report runModule(ModuleOp module, const CompileFor &code, const std::string &until) {
  return readReport(runForked(
      [&](const Send &send) {
        if (!checkAndSend(module, code, until, send))
          send("K refused");
      },
      programSeconds));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

std::string commented(const std::string &text) {
  std::string result;
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, false);
  for (StringRef line : llvm::ArrayRef(lines).take_front(12))
    result += "// " + line.substr(0, 300).str() + "\n";
  return result;
}

/// Shrinks the program and writes it; the file's path.
std::string keepFailure(uint64_t seed, const Report &report, const BatchOptions &options) {
  if (report.stage == "generate" || report.stage == "start")
    return "nowhere: it happens while the program is made";
  Context context;
  auto module = generate(context, attemptSeed(seed, report.attempt));
  Report last = report;
  if (options.shrink)
    module = shrink(
        *module,
        [&](ModuleOp smaller) {
          Report now = runModule(smaller, options.code, report.stage);
          bool same = report.sameFailure(now);
          if (same)
            last = now;
          return same;
        },
        shrinkBudget);
  std::string path = options.keep + "/seed-" + std::to_string(seed) + ".mlir";
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return path + ", which cannot be written: " + error.message();
  file << "// weir-smith --seed " << seed << " --count 1; shrunk. Again: weir-smith THIS-FILE\n// "
       << last.kind << " in stage '" << last.stage << "':\n"
       << commented(last.message) << "\n";
  module->print(file);
  return path;
}

//===----------------------------------------------------------------------===//
// A batch
//===----------------------------------------------------------------------===//

void sendAll(int to, const std::string &line) {
  for (size_t at = 0; at < line.size();) {
    ssize_t written = write(to, line.data() + at, line.size() - at);
    if (written <= 0)
      _exit(1);
    at += written;
  }
}

/// Lines are shorter than PIPE_BUF, so those of several workers do not mix.
void work(const BatchOptions &options, unsigned worker,
          std::chrono::steady_clock::time_point deadline, int to) {
  for (uint64_t i = worker; i < options.count; i += options.jobs) {
    if (options.minutes > 0 && std::chrono::steady_clock::now() > deadline)
      return;
    uint64_t seed = options.seed + i;
    Report report = runSeed(seed, options.code);
    if (report.fails()) {
      std::string path = keepFailure(seed, report, options);
      StringRef first = StringRef(report.message).split('\n').first;
      sendAll(to, llvm::formatv("F seed {0}: {1} in stage '{2}': {3}; kept in {4}\n", seed,
                                report.kind, report.stage, first.substr(0, 250), path));
    }
    sendAll(to, "K " + report.kind + " " + std::to_string(report.attempt) + "\n");
    sendAll(to, "O " + report.ops + "\n");
    sendAll(to, "P " + report.passes + "\n");
    if (!report.bits.empty())
      sendAll(to, "B " + std::to_string(seed) + " " + report.bits + "\n");
  }
}

struct Totals {
  std::map<std::string, uint64_t> kinds, ops, passes;
  std::map<uint64_t, std::string> bits; ///< by seed
  uint64_t programs = 0, attempts = 0;
  std::vector<std::string> failures;

  void add(StringRef line) {
    SmallVector<StringRef> words;
    line.drop_front(1).split(words, ' ', -1, false);
    if (line.starts_with("F "))
      failures.push_back(line.drop_front(2).str());
    else if (line.starts_with("O"))
      for (StringRef word : words)
        ++ops[word.str()];
    else if (line.starts_with("P"))
      for (StringRef word : words)
        ++passes[word.str()];
    else if (line.starts_with("B"))
      bits[std::stoull(words[0].str())] = words[1].str();
    else if (line.starts_with("K")) {
      ++kinds[words[0].str()];
      ++programs;
      attempts += 1 + std::stoull(words[1].str());
    }
  }
};

void list(const char *what, const std::map<std::string, uint64_t> &counts) {
  llvm::outs() << what << ":";
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto &[name, count] : counts)
    sorted.push_back({count, name});
  llvm::sort(sorted, std::greater<>());
  for (const auto &[count, name] : sorted)
    llvm::outs() << " " << name << " " << count;
  llvm::outs() << "\n";
}

std::vector<std::string> opsOfDialect() {
  Context context;
  std::vector<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (isa<WeirDialect>(name.getDialect()))
      names.push_back(name.stripDialect().str());
  return names;
}

/// Throws Failure where no program can be kept.
void requireFolder(const std::string &keep) {
  std::error_code error = llvm::sys::fs::create_directories(keep);
  if (!error)
    error = llvm::sys::fs::access(keep, llvm::sys::fs::AccessMode::Write);
  if (!error && !llvm::sys::fs::is_directory(keep))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw Failure(Exit::storage,
                  "--keep " + keep + ": no program can be kept there: " + error.message());
}

/// Starts the processes, which write lines to `ends`.
std::vector<pid_t> startWorkers(const BatchOptions &options, const int (&ends)[2],
                                std::chrono::steady_clock::time_point deadline) {
  std::vector<pid_t> workers;
  for (unsigned worker = 0; worker < options.jobs; ++worker) {
    pid_t child = fork();
    if (child == 0) {
      dieWithParent();
      close(ends[0]);
      work(options, worker, deadline, ends[1]);
      _exit(0);
    }
    workers.push_back(child);
  }
  return workers;
}

/// Reads lines until all workers have ended, and tells failures and progress.
Totals collect(const BatchOptions &options, int from) {
  Totals totals;
  std::string text;
  char buffer[1 << 16];
  auto last = std::chrono::steady_clock::now();
  for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, got);
    for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      StringRef line = StringRef(text).take_front(end);
      totals.add(line);
      if (line.starts_with("F "))
        llvm::errs() << line.drop_front(2) << "\n";
    }
    auto now = std::chrono::steady_clock::now();
    if (now - last > std::chrono::seconds(10)) {
      last = now;
      llvm::errs() << totals.programs << " of " << options.count << " programs, "
                   << totals.failures.size() << " failures\n";
    }
  }
  return totals;
}

/// Whether a worker ended before its work did.
bool waitFor(const std::vector<pid_t> &workers) {
  bool lost = false;
  for (pid_t worker : workers) {
    int status = 0;
    waitpid(worker, &status, 0);
    lost |= status != 0;
  }
  return lost;
}

void tell(Totals &totals, double seconds, const std::vector<std::string> &missing) {
  llvm::outs() << llvm::formatv(
      "{0} programs in {1:f1} s: {2} agree, {3} fail, {4} found nothing that f32 decides ({5} "
      "drafts in all)\n",
      totals.programs, seconds, totals.kinds["agrees"], totals.failures.size(),
      totals.kinds["refused"], totals.attempts);
  list("programs by op", totals.ops);
  list("programs changed by a pass", totals.passes);
  if (!missing.empty()) {
    llvm::outs() << "in no program:";
    for (const std::string &op : missing)
      llvm::outs() << " " << op;
    llvm::outs() << "\n";
  }
}

void writeBits(const std::string &path, const std::map<uint64_t, std::string> &bits) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  for (const auto &[seed, hash] : bits)
    file << seed << " " << hash << "\n";
  file.flush();
  if (error || (error = file.error()))
    throw Failure(Exit::storage, "--bits " + path + ": it cannot be written: " + error.message());
}

} // namespace

Exit runBatch(const BatchOptions &options) {
  requireFolder(options.keep);
  int ends[2];
  if (pipe(ends) != 0)
    throw Failure(Exit::internal, "cannot make a pipe");
  auto begin = std::chrono::steady_clock::now();
  auto deadline = begin + std::chrono::milliseconds(int64_t(options.minutes * 60000));
  std::vector<pid_t> workers = startWorkers(options, ends, deadline);
  close(ends[1]);
  Totals totals = collect(options, ends[0]);
  bool lost = waitFor(workers);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::vector<std::string> missing;
  for (const std::string &op : opsOfDialect())
    if (!totals.ops.count(op))
      missing.push_back(op);
  tell(totals, seconds, missing);
  if (!options.bits.empty())
    writeBits(options.bits, totals.bits);
  if (lost)
    llvm::errs() << "error: a worker ended early\n";
  return lost || !totals.failures.empty() || (options.allOps && !missing.empty()) ? Exit::internal
                                                                                  : Exit::ok;
}

/// What an artifact says of its recipe (artifact/ProgramChecker.cpp) and the module does
/// not.
static std::string missingOfRecipe(ModuleOp module) {
  auto given = [&](StringRef name) {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    return value && value.getInt() >= 1;
  };
  SmallVector<StringRef> missing;
  for (StringRef name : {batchAttrName, accumulateAttrName})
    if (!given(name))
      missing.push_back(name);
  if (given(stepsAttrName) == given(epochsAttrName))
    missing.push_back("one of weir.steps and weir.epochs");
  return llvm::join(missing, ", ");
}

/// What a file's module is to be beyond what its ops verify.
static void requireProgram(ModuleOp module, const std::string &path, bool compile) {
  auto require = [&](bool holds, const std::string &what) {
    if (!holds)
      throw Failure(Exit::usage, path + ": expected a program, " + what);
  };
  auto functions = module.getOps<func::FuncOp>();
  require(!functions.empty(), // as in a plan
          "with functions of the weir dialect; this module has none");
  for (func::FuncOp function : functions)
    for (TypeRange types : {function.getArgumentTypes(), function.getResultTypes()})
      for (Type type : types) {
        std::string lacks = missingOfTensor(type);
        require(lacks.empty(),
                llvm::formatv("with functions of tensors; @{0} has {1}, expected {2}",
                              function.getName(), type, lacks));
      }
  std::string missing = missingOfRecipe(module);
  require(!compile || missing.empty(),
          "whose module says how it is trained; this one lacks " + missing +
              " (1 or more); add what it lacks, or leave out the machine code with --no-compile");
}

Exit runFile(const std::string &path, const BatchOptions &options) {
  Context context;
  auto module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    throw Failure(Exit::model, path + ": no module of the weir dialect");
  requireProgram(*module, path, options.code.compile);
  Report report = runModule(*module, options.code, "");
  if (report.kind == "refused") {
    llvm::outs() << path << ": cannot be compared: " << report.message << "\n";
    return Exit::ok;
  }
  llvm::outs() << path << ": " << report.kind;
  if (report.fails())
    llvm::outs() << " in stage '" << report.stage << "': " << report.message;
  llvm::outs() << "\n";
  return report.fails() ? Exit::internal : Exit::ok;
}

Exit printProgram(uint64_t seed) {
  Report report = runSeed(seed, {.compile = false});
  Context context;
  if (auto module = generate(context, attemptSeed(seed, report.attempt)))
    module->print(llvm::outs());
  return Exit::ok;
}

} // namespace weir::smith
