//===- Alternatives.cpp - Programs for several meshes --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Alternatives.h"
#include "artifact/Actions.h"
#include "artifact/Checker.h"
#include "artifact/Sharding.h"
#include "support/Text.h"
#include <algorithm>
#include <set>

namespace weir::artifact {

std::vector<const Program *> alternativesOf(const Program &program) {
  std::vector<const Program *> all = {&program};
  if (program.alternatives())
    all.insert(all.end(), program.alternatives()->begin(), program.alternatives()->end());
  return all;
}

std::vector<Mesh> meshesOf(const Program &program) {
  std::vector<Mesh> meshes;
  for (const Program *one : alternativesOf(program))
    meshes.push_back(hostsOf(*one));
  return meshes;
}

const Program *programFor(const Program &program, int64_t processes) {
  for (const Program *one : alternativesOf(program))
    if (hostsOf(*one).ranks() == processes)
      return one;
  return nullptr;
}

namespace {

void require(bool holds, const std::string &what) {
  if (!holds)
    reject("its meshes", what);
}

std::string_view textOf(const flatbuffers::String *text) { return text ? text->string_view() : ""; }

/// What a checkpoint keeps.
std::vector<const Variable *> keptOf(const Program &program) {
  std::vector<const Variable *> kept;
  for (const Variable *variable : *program.variables())
    if (variable->role() != Role::run)
      kept.push_back(variable);
  return kept;
}

bool areAlike(const Variable *one, const Variable *other) {
  return one->name()->string_view() == other->name()->string_view() &&
         one->role() == other->role() && one->dtype() == other->dtype() &&
         std::ranges::equal(*one->shape(), *other->shape());
}

} // namespace

/// Each is a whole program, and a run of one may go on as a run of another.
void ProgramChecker::checkAlternatives() {
  if (!program.alternatives())
    return;
  require(program.alternatives()->size() < mostAlternatives, "there are too many");
  std::set<int64_t> processes = {hostsOf(program).ranks()};
  for (const Program *other : *program.alternatives()) {
    require(!other->alternatives(), "one has several meshes itself");
    ProgramChecker checker(*other);
    checker.check();
    checker.checkRanks();
    require(processes.insert(hostsOf(*other).ranks()).second, "two have as many processes");
    require(textOf(program.model()) == textOf(other->model()) &&
                program.training_digest() == other->training_digest() &&
                program.precision() == other->precision() && program.master() == other->master() &&
                textOf(program.loss_scale()) == textOf(other->loss_scale()),
            "they are of several models");
    require(textOf(deviceOf(program).target()) == textOf(deviceOf(*other).target()),
            "they are for several devices");
    require(program.batch() * program.accumulate() == other->batch() * other->accumulate() &&
                program.steps() == other->steps() && program.epochs() == other->epochs(),
            "they have several recipes");
    require(std::ranges::equal(keptOf(program), keptOf(*other), areAlike),
            "they have other variables");
  }
}

} // namespace weir::artifact
