//===- Launcher.cpp - Reads the variables of launchers --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Launcher.h"
#include "runtime/checkpoint/Disk.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace weir {
namespace {

using Get = std::function<const char *(const char *)>;

struct Launcher {
  const char *name, *size, *rank;
  const char *beside;      ///< how many of them are on this machine; may be null
  const char *host, *port; ///< where rank 0 is, unless MASTER_ADDR says it; may be null
  const char *jobs[3];     ///< what tells this run from the launcher's others; may be null
};

// The first that says more than one process counts: what starts processes within another's stands
// before it. SLURM_NTASKS is no launch: it also stands in the shell of an allocation, where a
// command runs once. srun alone sets the step's number of tasks. PET_NNODES is what Kubeflow gives
// every pod.
constexpr Launcher launchers[] = {
    {"torchrun or a shell",
     "WORLD_SIZE",
     "RANK",
     "LOCAL_WORLD_SIZE",
     nullptr,
     nullptr,
     {"TORCHELASTIC_RUN_ID"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     nullptr,
     nullptr,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"MPICH's mpiexec", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", nullptr, nullptr, {}},
    {"srun",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_PROCID",
     "SLURM_STEP_TASKS_PER_NODE",
     "SLURM_STEP_NODELIST",
     nullptr,
     {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}},
    {"Kubeflow", "PET_NNODES", "PET_NODE_RANK", nullptr, "PET_MASTER_ADDR", "PET_MASTER_PORT", {}},
    {"Kubeflow",
     "JAX_NUM_PROCESSES",
     "JAX_PROCESS_ID",
     nullptr,
     "JAX_COORDINATOR_ADDRESS",
     "JAX_COORDINATOR_PORT",
     {}},
};

/// The number that a text begins with, as "4" and "2:4" do, or 0.
int64_t numberIn(const char *text) {
  int64_t value = 0;
  if (text)
    std::from_chars(text, text + std::strlen(text), value);
  return value;
}

std::string words(const char *name, const char *value) { return concat(name, "=", value); }

/// The number that a variable is, all of it, within bounds.
int64_t wholeNumber(const char *name, const char *value, int64_t least, int64_t most) {
  int64_t number = 0;
  const char *end = value + std::strlen(value);
  auto [stop, error] = std::from_chars(value, end, number);
  if (error != std::errc() || stop != end || number < least || number > most)
    throw Failure(Exit::usage,
                  concat(words(name, value), ": expected a number from ", least, " to ", most));
  return number;
}

constexpr int64_t mostProcesses = 4096;

/// How many processes the launcher says there are; nothing where it is not the one, which sets
/// nothing or an empty text. What cannot be read is no launch of one: each process would train
/// alone.
/// `isSaid`: another launcher has said it, as torchrun does in a pod of an elastic job, of which
/// PET_NNODES is a range.
std::optional<int64_t> sizeSaid(const Launcher &launcher, const Get &get, bool isSaid) {
  const char *size = get(launcher.size);
  if (!size || !*size || (isSaid && std::strchr(size, ':')))
    return std::nullopt;
  return wholeNumber(launcher.size, size, 1, mostProcesses);
}

/// "HOST:PORT", "[::1]:29500" and, where no port is needed, "HOST".
bool splitPlace(const std::string &text, std::string &host, std::string &port) {
  size_t colon = text.rfind(':'), bracket = text.rfind(']');
  bool isBare = colon == std::string::npos || (bracket != std::string::npos && colon < bracket) ||
                (bracket == std::string::npos && text.find(':') != colon);
  host = isBare ? text : text.substr(0, colon);
  port = isBare ? "" : text.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return !host.empty();
}

/// The first host of Slurm's list: "node01" of "node[01-04,07],login".
std::string firstHost(const std::string &list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket)
    return list.substr(0, comma);
  std::string first = list.substr(bracket + 1);
  return list.substr(0, bracket) + first.substr(0, first.find_first_of("-,]"));
}

uint16_t portIn(const char *name, const std::string &text) {
  return uint16_t(wholeNumber(name, text.c_str(), 1, 65000));
}

/// The default of torchrun's and PyTorch's stores; the runs of one Slurm job differ.
constexpr int64_t usualPort = 29500;

/// Whether something tells this run from the others of the same launcher.
bool isJobNamed(const Launcher &launcher, const Get &get) {
  auto isSet = [&](const char *name) {
    const char *value = name ? get(name) : nullptr;
    return value && *value;
  };
  return isSet("WEIR_JOB_ID") || std::ranges::any_of(launcher.jobs, isSet);
}

void findPlace(Launch &launch, const Launcher &launcher, const std::string &rendezvous,
               const Get &get) {
  std::string port;
  if (!rendezvous.empty()) {
    splitPlace(rendezvous, launch.host, port);
    launch.hostWords = concat("--rendezvous ", rendezvous);
    launch.port = portIn("--rendezvous' port", port);
    return;
  }
  const char *host = "MASTER_ADDR", *number = "MASTER_PORT";
  if ((!get(host) || !*get(host)) && launcher.host) {
    host = launcher.host;
    number = launcher.port;
  }
  const char *value = get(host);
  launch.beside = numberIn(launcher.beside ? get(launcher.beside) : nullptr);
  if (!value || !*value) {
    // All are on this machine, and nothing else tells a run from another one beside it.
    if (launch.beside != launch.size || !isJobNamed(launcher, get))
      return;
    host = launcher.beside;
    value = get(host);
  } else if (std::strcmp(host, "SLURM_STEP_NODELIST") == 0) {
    launch.host = firstHost(value);
  } else {
    splitPlace(value, launch.host, port);
  }
  launch.hostWords = words(host, value);
  // A machine's own name leads to an address that others reach too.
  if (launch.beside == launch.size)
    launch.host = "127.0.0.1";
  const char *given = number ? get(number) : nullptr;
  if (given && *given)
    port = given;
  int64_t held =
      port.empty()
          ? usualPort +
                (numberIn(get("SLURM_JOB_ID")) * 97 + numberIn(get("SLURM_STEP_ID")) * 16) % 20000
          : portIn(number ? number : host, port);
  // That port itself is the launcher's: torchrun's agent listens there.
  launch.port = uint16_t(held + 1);
}

/// A hash of all that tells the run from others: a list of nodes may be longer than what rank 0
/// hears of a stranger.
std::string nameOfJob(const Launch &launch, const Launcher &launcher, const Get &get) {
  std::string all = concat("weir ", launch.hostWords, " ", launch.port, " ", launch.size);
  if (const char *named = get("WEIR_JOB_ID"))
    all += concat(" ", named);
  for (const char *job : launcher.jobs)
    if (const char *value = job ? get(job) : nullptr)
      all += concat(" ", value);
  return hexText(hashOf(all.data(), all.size()));
}

} // namespace

/// A process that would train alone is not said to be the second or a later one, by the launcher
/// that counts or by one inside of it that does not say how many there are. It may be the first: a
/// batch script's shell has SLURM_PROCID=0.
static void requireNoRank(const Get &get) {
  for (const Launcher &launcher : launchers) {
    const char *rank = get(launcher.rank), *size = get(launcher.size);
    if (size && *size) {
      if (rank && *rank && !std::strchr(size, ':'))
        wholeNumber(launcher.rank, rank, 0, 0);
      return; // what stands outside of it does not count
    }
    if (numberIn(rank) > 0)
      throw Failure(Exit::usage, concat(words(launcher.rank, rank), " (set by ", launcher.name,
                                        "), but ", launcher.size,
                                        ", the number of processes, is not set: this process would "
                                        "train alone; set it, or unset ",
                                        launcher.rank, " if no launcher set it"));
  }
}

std::string checkRendezvous(const std::string &text) {
  std::string host, port;
  int64_t number = 0;
  bool isPlace = splitPlace(text, host, port);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (isPlace && error == std::errc() && end == port.data() + port.size() && number > 0 &&
      number <= 65000)
    return "";
  return concat("expected HOST:PORT, such as 10.0.0.1:29500, found '", text, "'");
}

std::optional<Launch> findLaunch(const std::string &rendezvous, const Get &get) {
  bool isSaid = false;
  for (const Launcher &launcher : launchers) {
    const char *rank = get(launcher.rank);
    std::optional<int64_t> size = sizeSaid(launcher, get, isSaid);
    isSaid |= size.has_value();
    if (size.value_or(1) == 1)
      continue;
    Launch launch;
    launch.launcher = launcher.name;
    launch.sizeWords = words(launcher.size, get(launcher.size));
    launch.size = *size;
    if (!rank || !*rank)
      throw Failure(Exit::usage,
                    concat(launch.sizeWords, " (set by ", launcher.name, "), but ", launcher.rank,
                           ", the rank of this process, is not set; set it, or unset ",
                           launcher.size, " if no launcher set it"));
    launch.rankWords = words(launcher.rank, rank);
    launch.rank = wholeNumber(launcher.rank, rank, 0, launch.size - 1);
    if (const char *each = get("PET_NPROC_PER_NODE");
        std::strcmp(launcher.size, "PET_NNODES") == 0 && numberIn(each) > 1)
      throw Failure(Exit::usage, concat(words("PET_NPROC_PER_NODE", each),
                                        ": a pod is one process; start it with torchrun "
                                        "--no-python, or set one process per node"));
    findPlace(launch, launcher, rendezvous, get);
    launch.job = nameOfJob(launch, launcher, get);
    return launch;
  }
  requireNoRank(get);
  return std::nullopt;
}

std::optional<Launch> findLaunch(const std::string &rendezvous) {
  return findLaunch(rendezvous, [](const char *name) { return std::getenv(name); });
}

bool isLaunchedAlone(const Get &get) {
  bool isSaid = false;
  for (const Launcher &launcher : launchers) {
    std::optional<int64_t> size = sizeSaid(launcher, get, isSaid);
    if (size.value_or(1) > 1)
      return false;
    isSaid |= size.has_value();
  }
  return isSaid;
}

bool isLaunchedAlone() {
  return isLaunchedAlone([](const char *name) { return std::getenv(name); });
}

void refuseLaunch(const Launch &launch) {
  throw Failure(Exit::usage, concat(launch.sizeWords, " (set by ", launch.launcher,
                                    "): this process would be one of several (", launch.rankWords,
                                    "), but each would train the whole model alone, because the "
                                    "model is compiled without a mesh. Compile it with --mesh dp=",
                                    launch.size, ", start one process, or unset ",
                                    launch.sizeWords.substr(0, launch.sizeWords.find('=')),
                                    " if no launcher set it"));
}

} // namespace weir
