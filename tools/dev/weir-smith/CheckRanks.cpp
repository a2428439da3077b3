//===- CheckRanks.cpp - A program on several ranks ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "passes/VerifyRanks.h"
#include "strategy/Fields.h"
#include "support/Error.h"
#include "support/mesh/Stages.h"
#include "tools/dev/weir-smith/Checker.h"
#include "verify/RankInterpreter.h"

using namespace mlir;

namespace weir::smith {

/// Whether stages cannot compute the program, and it is refused for that: it has fewer ops in a row
/// than there are stages, or the last stage computes a state that the first one reads in the next
/// microbatch, which an interleaved schedule begins earlier.
static bool cannotHaveStages(ModuleOp program, const PipelineOptions &options) {
  bool said = false;
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    for (StringRef reason :
         {"ops in sequence, too few for", "--schedule interleaved: state for the next microbatch"})
      said |= StringRef(diagnostic.str()).contains(reason);
    return success();
  });
  return failed(runPassGroups(program, options, "layouts")) && said;
}

bool Checker::ranksAgree(const Mesh &mesh, ArrayRef<ModuleOp> programs,
                         ArrayRef<uint32_t> programOf) {
  ProgramRun run;
  for (const auto &[name, entry] : truth) {
    RankInterpreter all(mesh, programs, programOf);
    all.variables = variables;
    auto results = all.run(name, entries.at(name).inputs);
    if (failed(results))
      return fail("the ranks do not run @" + name + (all.problem ? ": " + all.problem->why : ""));
    if (!all.apart.empty())
      return fail(all.apart);
    run[name] = {std::move(*results), std::move(all.variables)};
  }
  return agree(run, truth, foldTolerance);
}

/// Several ranks, interpreted and run, beside one device. What rounds to low precision may round
/// sums in another order to other numbers.
bool Checker::ranks() {
  auto asked = module->getAttrOfType<StrategyAttr>(ranksAttrName);
  if (!asked || rounds)
    return true;
  if (!begin("layouts"))
    return false;
  PipelineOptions together = pipeline;
  strategy::copyGiven(together.strategy, asked.getValue());
  const Mesh &mesh = together.strategy.mesh;
  if (together.strategy.stages() > 1 && cannotHaveStages(*copy(), together))
    return true;
  OwningOpRef<ModuleOp> program = copy();
  if (failed(runPassGroups(*program, together, "layouts")))
    return fail("the program is not cut over " + mesh.text());
  if (options.onChange && together.strategy.stages() > 1)
    options.onChange("cross-stages", *program);
  if (!begin("ranks"))
    return false;
  // Behind partitioning with all-reduces as ops, and once they are moves and local sums.
  std::vector<OwningOpRef<ModuleOp>> owned;
  std::vector<ModuleOp> partitioned, programs;
  std::vector<uint32_t> programOf;
  const StringRef isDone[] = {"partition"};
  for (together.rank = 0; together.rank < mesh.ranks(); ++together.rank) {
    programOf.push_back(uint32_t(together.rank));
    partitioned.push_back(*owned.emplace_back(program->clone()));
    if (failed(runPass("partition", partitioned.back(), together)))
      return fail("a rank's program cannot be made");
    if (options.onChange)
      options.onChange("partition", partitioned.back());
    programs.push_back(*owned.emplace_back(partitioned.back().clone()));
    PipelineOptions rest = together;
    rest.without = isDone;
    if (failed(runPassGroups(programs.back(), rest, "simplify", "partition")))
      return fail("a rank's program cannot be made");
    if (options.onChange)
      options.onChange("expand-collectives", programs.back());
  }
  if (failed(verifyRanks(programs, programOf)))
    return fail("the ranks' programs do not fit together");
  if (!ranksAgree(mesh, partitioned, programOf) || !ranksAgree(mesh, programs, programOf))
    return false;
  if (!options.code.compile || options.code.target.rfind("cpu", 0) != 0)
    return true;
  if (!begin("compile ranks"))
    return false;
  program = copy();
  addMissingEntries(*program);
  auto artifact = compile(*program, together);
  if (failed(artifact))
    return fail("the ranks' programs do not compile");
  try {
    return runCompiled(*artifact, "run ranks", "threads of ranks");
  } catch (const Failure &failure) {
    return fail(failure.what());
  }
}

} // namespace weir::smith
