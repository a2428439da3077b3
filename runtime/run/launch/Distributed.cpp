//===- Distributed.cpp - A run of several processes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Distributed.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/collectives/Plugin.h"
#include "runtime/collectives/Processes.h"
#include "runtime/report/Say.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/launch/RestartState.h"
#include "runtime/run/launch/Restarts.h"
#include "runtime/run/launch/Secret.h"
#include "runtime/run/launch/SharedOptions.h"
#include "support/Text.h"
#include "support/mesh/Mesh.h"
#include "support/system/NewFile.h"
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace weir {
namespace {

/// The ranks of the launch are those of one of the meshes.
void requireMesh(const Launch &launch, const std::vector<Mesh> &meshes) {
  if (meshes.size() == 1 && meshes[0].axes.empty())
    refuseLaunch(launch);
  std::string all;
  int64_t ranks = 0;
  for (const Mesh &mesh : meshes) {
    ranks = mesh.ranks();
    if (ranks == launch.size)
      return;
    all += concat(all.empty() ? "" : ", ", mesh.axes.empty() ? "one device" : mesh.text(), " (",
                  ranks, ")");
  }
  const std::string said = concat(launch.sizeWords, " (set by ", launch.launcher, "), but ");
  if (meshes.size() > 1)
    throw Failure(Exit::usage,
                  concat(said, "none of the artifact's meshes has that many ranks; its meshes are ",
                         all,
                         ": start one process for each rank of one of these meshes, or compile it "
                         "with a --mesh for ",
                         launch.size, " ranks as well"));
  throw Failure(Exit::usage,
                concat(said, meshes[0].text(), " of the artifact has ", ranks,
                       ranks == 1 ? " rank" : " ranks", ": start one process for each rank",
                       ranks == 1 ? ", or compile it with a --mesh for them" : ""));
}

collectives::Processes::Settings settingsOf(const Launch &launch, const RunOptions &options) {
  if (launch.host.empty())
    throw Failure(Exit::usage,
                  concat(launch.launcher, " does not set the address of rank 0 (", launch.sizeWords,
                         "): give --rendezvous HOST:PORT, such as 127.0.0.1:29500 on one machine, "
                         "or set MASTER_ADDR and MASTER_PORT"));
  collectives::Processes::Settings settings;
  settings.meeting = {.rank = launch.rank,
                      .size = launch.size,
                      .host = launch.host,
                      .port = launch.port,
                      .job = launch.job,
                      .secret = readSecret(std::getenv("WEIR_JOB_SECRET_FILE")),
                      .trustsNetwork = options.trustNetwork,
                      .beside = launch.beside,
                      .last = options.restartState->generation,
                      .patience = std::chrono::seconds(options.collectiveTimeout),
                      .warn = [](const std::string &text) { sayAlways("warning: " + text); }};
  settings.timeout = settings.meeting.patience;
  return settings;
}

/// A new folder of this user's alone among the temporary files; "" where none can be made. Its name
/// cannot be guessed, so that nobody has put a link in its place.
std::string temporaryFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "weir-XXXXXX").string();
  return !error && mkdtemp(name.data()) ? name : "";
}

/// Writes the last actions of a rank where its checkpoints are, or where temporary files are.
/// Returns "; its last actions are in PATH", or "" where there is none or it cannot be written.
std::string writeLastActions(const std::string &actions, int64_t rank, const std::string &why,
                             const RunOptions &options) {
  if (actions.empty())
    return "";
  std::error_code none;
  std::filesystem::path folder = options.checkpoint;
  if (folder.empty() || !std::filesystem::is_directory(folder, none))
    folder = temporaryFolder();
  if (folder.empty())
    return "";
  std::string path = (folder / concat("last-actions-of-rank-", rank, ".txt")).string();
  std::string text = concat(
      why, "\n\nThe last actions, with their start times relative to the end of the last one:\n",
      actions);
  try {
    NewFile file(path);
    file.write(reinterpret_cast<const std::byte *>(text.data()), text.size());
    file.finish();
  } catch (const Failure &) {
    return "";
  }
  return concat("; its last actions are in ", path);
}

collectives::Processes meet(const collectives::Processes::Settings &settings,
                            RestartState &restartState) {
  try {
    return collectives::Processes(settings, collectives::linksPlugin());
  } catch (const collectives::NotMet &) {
    restartState.isNotMet = true;
    throw;
  }
}

} // namespace

bool isFirst(const RunOptions &options) {
  return !options.device.group || options.device.group->rank() == 0;
}

Exit runDistributed(const RunOptions &options, const std::vector<Mesh> &meshes,
                    const std::function<Exit(const RunOptions &)> &body) {
  std::optional<Launch> launch = findLaunch(options.rendezvous);
  if (!launch)
    return body(options);
  requireMesh(*launch, meshes);
  RestartState alone;
  RunOptions own = options;
  if (!own.restartState)
    own.restartState = &alone;
  collectives::Processes::Settings settings = settingsOf(*launch, own);
  std::atomic<collectives::Processes *> there = nullptr;
  auto told = [&](Exit exit, const std::string &why) {
    std::string text = concat("rank ", launch->rank, ": ", why), more;
    if (exit == Exit::peer || exit == Exit::internal)
      more = writeLastActions(there ? there.load()->lastActions() : "", launch->rank, text, own);
    if (exit == Exit::peer || exit == Exit::device)
      more += lastCheckpoint(own);
    return text + more;
  };
  settings.onStuck = [&](const collectives::Verdict &verdict) {
    sayAlways(concat("error: ", told(verdict.exit, verdict.words)));
    _exit(static_cast<int>(verdict.exit));
  };
  collectives::Processes group = meet(settings, *own.restartState);
  there = &group;
  own.device.group = &group;
  own.restartState->generation = group.generation();
  // Others have saved, maybe: but a folder that was never taken for this run is another's.
  if (group.generation() > 1)
    own.resume |= collectives::mostOf(group, "the check for an earlier start of the run",
                                      own.restartState->saved != RestartState::notBegun);
  sayNothing = launch->rank != 0;
  if (sayNothing) {
    own.metrics = own.tensorboard = own.trace = "";
    own.profile = false;
  }
  say(concat("rank ", launch->rank, " of ", launch->size, " (", launch->rankWords, " and ",
             launch->sizeWords, ", set by ", launch->launcher, "); rendezvous at ", group.place(),
             " (", launch->hostWords, ")",
             group.generation() > 1 ? concat(", generation ", group.generation()) : ""));
  try {
    collectives::requireSameGiven(group, "the comparison of options", sharedOptions(own));
    Exit exit = body(own);
    if (exit == Exit::ok || exit == Exit::requeue)
      group.finish();
    else
      group.fail(exit, "");
    return exit;
  } catch (const Failure &failure) {
    group.fail(failure.exit, failure.what());
    throw Failure(failure.exit, told(failure.exit, failure.what()));
  } catch (const std::exception &fault) {
    group.fail(Exit::internal, fault.what());
    throw;
  }
}

void shareArtifact(const RunOptions &options, std::vector<std::byte> &artifact) {
  Group *group = options.device.group;
  if (!group)
    return;
  collectives::fromFirst(*group, "the broadcast of the artifact", artifact);
  group->requireFirsts("the check of the artifact from rank 0", artifact);
}

} // namespace weir
