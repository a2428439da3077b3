//===- LauncherTest.cpp - Which process of a run this is ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Launcher.h"
#include "support/Error.h"
#include <gtest/gtest.h>
#include <map>

using namespace weir;

namespace {

using Environment = std::map<std::string, std::string>;

auto reading(const Environment &environment) {
  return [&](const char *name) -> const char * {
    auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

std::optional<Launch> find(const Environment &environment, const std::string &rendezvous = "") {
  return findLaunch(rendezvous, reading(environment));
}

bool isAlone(const Environment &environment) { return isLaunchedAlone(reading(environment)); }

std::string refused(const Environment &environment) {
  try {
    find(environment);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::usage);
    return failure.what();
  }
  return "nothing";
}

void expectPlace(const std::optional<Launch> &launch, int64_t rank, int64_t size,
                 const std::string &host, uint16_t port) {
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, rank);
  EXPECT_EQ(launch->size, size);
  EXPECT_EQ(launch->host, host);
  EXPECT_EQ(launch->port, port);
}

} // namespace

TEST(Launcher, OneProcessIsNoLaunch) {
  EXPECT_FALSE(find({}));
  EXPECT_FALSE(find({{"WORLD_SIZE", "1"}, {"RANK", "0"}}));
  EXPECT_FALSE(find({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}));
  EXPECT_FALSE(find({{"WORLD_SIZE", ""}}));
}

TEST(Launcher, Torchrun) {
  auto launch = find({{"WORLD_SIZE", "4"},
                      {"RANK", "3"},
                      {"MASTER_ADDR", "node1"},
                      {"MASTER_PORT", "29400"},
                      {"TORCHELASTIC_RUN_ID", "mine"}});
  expectPlace(launch, 3, 4, "node1", 29401);
  EXPECT_EQ(launch->sizeWords, "WORLD_SIZE=4");
  EXPECT_EQ(launch->rankWords, "RANK=3");
}

TEST(Launcher, OneMachineNeedsNoNetwork) {
  Environment environment{
      {"WORLD_SIZE", "4"}, {"RANK", "3"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}};
  expectPlace(find(environment), 3, 4, "node1", 29501);
  environment["LOCAL_WORLD_SIZE"] = "4";
  expectPlace(find(environment), 3, 4, "127.0.0.1", 29501);
  expectPlace(find(environment, "node2:4000"), 3, 4, "node2", 4000);
}

TEST(Launcher, HowManyAreOnThisMachine) {
  Environment environment{{"WORLD_SIZE", "4"}, {"RANK", "3"}, {"MASTER_ADDR", "node1"}};
  EXPECT_EQ(find(environment)->beside, 0);
  environment["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_EQ(find(environment)->beside, 2);
  EXPECT_EQ(find(environment, "127.0.0.1:4000")->beside, 0);
}

TEST(Launcher, TheInnermostCounts) {
  expectPlace(find({{"WORLD_SIZE", "4"},
                    {"RANK", "3"},
                    {"MASTER_ADDR", "node1"},
                    {"SLURM_STEP_NUM_TASKS", "2"},
                    {"SLURM_PROCID", "1"}}),
              3, 4, "node1", 29501);
}

TEST(Launcher, OpenMpi) {
  Environment environment{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}};
  expectPlace(find(environment), 1, 2, "", 0);
  expectPlace(find(environment, "10.0.0.1:4000"), 1, 2, "10.0.0.1", 4000);
  expectPlace(find(environment, "[::1]:4000"), 1, 2, "::1", 4000);
  environment["MASTER_ADDR"] = "node1";
  expectPlace(find(environment), 1, 2, "node1", 29501);
}

TEST(Launcher, MpirunOnOneMachineNeedsNoAddress) {
  Environment environment{{"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                          {"PMIX_NAMESPACE", "1234@1"}};
  expectPlace(find(environment), 1, 2, "127.0.0.1", 29501);
  std::string job = find(environment)->job;
  environment["PMIX_NAMESPACE"] = "1235@1";
  EXPECT_NE(find(environment)->job, job);
  expectPlace(find(environment, "10.0.0.1:4000"), 1, 2, "10.0.0.1", 4000);
  // Another run beside it would have the same name.
  environment.erase("PMIX_NAMESPACE");
  expectPlace(find(environment), 1, 2, "", 0);
  environment["WEIR_JOB_ID"] = "a";
  expectPlace(find(environment), 1, 2, "127.0.0.1", 29501);
  // The other is elsewhere.
  environment["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  expectPlace(find(environment), 1, 2, "", 0);
}

TEST(Launcher, Srun) {
  for (auto [list, first] : {std::pair("node[03-04,07],login", "node03"),
                             {"a1,a2", "a1"},
                             {"n[5,7]", "n5"},
                             {"alone", "alone"}}) {
    auto launch = find({{"SLURM_STEP_NUM_TASKS", "2"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_STEP_NODELIST", list},
                        {"SLURM_JOB_ID", "1000"},
                        {"SLURM_STEP_ID", "2"}});
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->host, first);
    EXPECT_GE(launch->port, 29501);
  }
}

TEST(Launcher, Kubeflow) {
  Environment pod{{"PET_NNODES", "2"},
                  {"PET_NODE_RANK", "1"},
                  {"PET_NPROC_PER_NODE", "1"},
                  {"PET_MASTER_ADDR", "job-node-0-0.job"},
                  {"PET_MASTER_PORT", "29500"}};
  expectPlace(find(pod), 1, 2, "job-node-0-0.job", 29501);
  pod["PET_NNODES"] = "2:4"; // how many come is not known
  EXPECT_NE(refused(pod).find("PET_NNODES=2:4: expected a number"), std::string::npos);
  pod["PET_NNODES"] = "2";
  pod["PET_NPROC_PER_NODE"] = "2";
  EXPECT_NE(refused(pod).find("PET_NPROC_PER_NODE=2: a pod is one process"), std::string::npos);
  expectPlace(find({{"JAX_NUM_PROCESSES", "2"},
                    {"JAX_PROCESS_ID", "0"},
                    {"JAX_COORDINATOR_ADDRESS", "job:1234"}}),
              0, 2, "job", 1235);
}

TEST(Launcher, ARankOfNobodyKnowsHowMany) {
  EXPECT_EQ(refused({{"RANK", "1"}}),
            "RANK=1 (set by torchrun or a shell), but WORLD_SIZE, the number of processes, is "
            "not set: this process would train alone; set it, or unset RANK if no launcher set it");
  EXPECT_NE(refused({{"SLURM_PROCID", "3"}}).find("SLURM_STEP_NUM_TASKS, the number"),
            std::string::npos);
  // What counts says that there is one.
  EXPECT_NE(refused({{"RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})
                .find("RANK=1 (set by torchrun or a shell), but WORLD_SIZE"),
            std::string::npos);
  EXPECT_EQ(refused({{"WORLD_SIZE", "1"}, {"RANK", "1"}}), "RANK=1: expected a number from 0 to 0");
  EXPECT_FALSE(find({{"RANK", "0"}}));
  EXPECT_FALSE(find({{"SLURM_PROCID", "0"}}));
  EXPECT_FALSE(find({{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"PET_NODE_RANK", "2"}}));
}

TEST(Launcher, WhatIsNone) {
  EXPECT_NE(refused({{"WORLD_SIZE", "2"}}).find("RANK, the rank of this process"),
            std::string::npos);
  EXPECT_EQ(refused({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), "RANK=2: expected a number from 0 to 1");
  EXPECT_EQ(refused({{"WORLD_SIZE", "2x"}, {"RANK", "1"}}),
            "WORLD_SIZE=2x: expected a number from 1 to 4096");
  EXPECT_EQ(refused({{"WORLD_SIZE", "2"}, {"RANK", "-1"}}),
            "RANK=-1: expected a number from 0 to 1");
  EXPECT_EQ(refused({{"WORLD_SIZE", "99999"}, {"RANK", "1"}}),
            "WORLD_SIZE=99999: expected a number from 1 to 4096");
  EXPECT_EQ(
      refused({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "65535"}}),
      "MASTER_PORT=65535: expected a number from 1 to 65000");
}

/// Each process would train the whole model alone.
TEST(Launcher, ASizeThatCannotBeReadIsNoLaunchOfOne) {
  for (const char *variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                               "SLURM_STEP_NUM_TASKS", "PET_NNODES", "JAX_NUM_PROCESSES"})
    for (const char *size : {" 2", "2 ", "abc", "-2", "0", "1x", "1:4", "+2"}) {
      Environment environment{{variable, size}, {"RANK", "1"}};
      EXPECT_EQ(refused(environment),
                std::string(variable) + "=" + size + ": expected a number from 1 to 4096");
      EXPECT_THROW(isAlone(environment), Failure);
    }
  // A pod of an elastic job says a range to torchrun, which says what it has made of it.
  Environment pod{{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"PET_NNODES", "1:4"}};
  EXPECT_FALSE(find(pod));
  EXPECT_TRUE(isAlone(pod));
}

TEST(Launcher, TheNameOfAJobIsShortAndItsOwn) {
  std::string nodes = "node1";
  while (nodes.size() < 5000)
    nodes += ",node" + std::to_string(nodes.size());
  Environment environment{{"SLURM_STEP_NUM_TASKS", "2"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_STEP_NODELIST", nodes},
                          {"SLURM_JOB_ID", "1000"}};
  const std::string name = find(environment)->job;
  EXPECT_EQ(name.size(), 16u);
  environment["SLURM_PROCID"] = "0";
  EXPECT_EQ(find(environment)->job, name);
  environment["WEIR_JOB_ID"] = std::string(5000, 'a');
  const std::string named = find(environment)->job;
  EXPECT_EQ(named.size(), 16u);
  EXPECT_NE(named, name);
  environment.erase("WEIR_JOB_ID");
  environment["SLURM_JOB_ID"] = "1001";
  EXPECT_NE(find(environment)->job, name);
  environment["SLURM_JOB_ID"] = "1000";
  environment["SLURM_STEP_NODELIST"] = nodes + ",another";
  EXPECT_NE(find(environment)->job, name);
}

TEST(Launcher, OneProcess) {
  EXPECT_TRUE(isAlone({{"WORLD_SIZE", "1"}, {"RANK", "0"}}));
  EXPECT_FALSE(isAlone({{"WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
  EXPECT_FALSE(isAlone({}));
}

TEST(Launcher, Rendezvous) {
  EXPECT_EQ(checkRendezvous("node1:29500"), "");
  EXPECT_EQ(checkRendezvous("[fe80::1]:29500"), "");
  for (const char *text : {"node1", "node1:", ":29500", "node1:0", "node1:65001", "node1:2x", ""})
    EXPECT_NE(checkRendezvous(text), "") << text;
}
