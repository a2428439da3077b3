//===- SkippedSteps.cpp - Steps that were not finite ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/SkippedSteps.h"
#include "artifact/Reader.h"
#include "runtime/run/NonFiniteGuard.h"
#include "runtime/run/Ports.h"
#include "support/Text.h"
#include "support/precision/LossScale.h"
#include "support/program/Names.h"
#include <algorithm>
#include <cmath>

namespace weir {

void SkippedSteps::resume(const Manifest &before) {
  count = before.skipped;
  lastOnes = before.skippedInARow;
  overflows = before.overflowsInARow;
  learnt = before.step - before.skipped;
}

static bool isDynamic(const Program &program) {
  const flatbuffers::String *scale = program.plan().loss_scale();
  return scale && lossScaleNamed(scale->string_view())->dynamic;
}

static const char *scaleAdvice(bool dynamic) {
  return dynamic ? "A dynamic --loss-scale that starts lower may help"
                 : "A lower --loss-scale may help, or a dynamic one";
}

/// The loss knows no loss scale: what is not finite there was so in the forward computation. Ops
/// that are pinned to f16 bring a loss scale too.
static bool reachesBeyondF16(const StepRecord &record, const Program &program) {
  return (artifact::precisionOf(program.plan()) == Precision::f16 || program.plan().loss_scale()) &&
         !std::isfinite(valueOf(record.values, "loss", 0));
}

std::string SkippedSteps::adviceOn(const StepRecord &record,
                                   const std::optional<std::string> &data) const {
  bool isLossFinite = std::isfinite(valueOf(record.values, "loss", 0)),
       isNormFinite = std::isfinite(valueOf(record.values, "grad_norm", 0)),
       isRateFinite = std::isfinite(valueOf(record.values, "lr", 0)), overflowed = overflows > 0,
       canTrace = !program.plan().mesh() && options.nan != "trace";
  const char *trace = canTrace ? "; --nan trace names the op and its line" : "";
  const char *clip = program.plan().clips() ? ", or a smaller norm in the recipe's clip"
                                            : ", or clip global_norm(1.0) in the recipe";
  const struct {
    bool applies;
    std::string words;
  } rules[] = {
      {data.has_value(), concat("Check the data: ", data.value_or(""),
                                "; correct it, unless the model expects such values")},
      {overflowed, scaleAdvice(isDynamic(program))},
      {reachesBeyondF16(record, program),
       "f16 cannot represent values beyond 65504, which may be the cause: use bf16, or pin the ops "
       "with such values to f32 (`plan`)"},
      {!isRateFinite, "The learning rate is not finite: correct the recipe's `lr`"},
      {isLossFinite && !isNormFinite,
       concat("The loss is finite, but a derivative is not, such as that of sqrt at 0", trace)},
      {!isLossFinite && learnt == 0,
       concat("The weights are still the initial ones, so the learning rate is not the cause: an "
              "op computes infinity or NaN from them",
              trace)},
      {isLossFinite, "A lower learning rate may help"},
      {true, concat("A lower learning rate may help", clip, trace)},
  };
  return " " + std::ranges::find_if(rules, [](auto &rule) { return rule.applies; })->words;
}

std::string SkippedSteps::add(const StepRecord &record, const std::string &newest,
                              const std::function<std::optional<std::string>()> &inData) {
  double loss = valueOf(record.values, "loss", 0), norm = valueOf(record.values, "grad_norm", 0),
         rate = valueOf(record.values, "lr", -1); // recipes without a schedule have no such output
  bool left = valueOf(record.values, "skipped", 0) != 0;
  if (!left) {
    ++learnt;
    notFinite.clear();
  }
  if (!left && std::isfinite(loss) && std::isfinite(norm)) {
    lastOnes = overflows = 0;
    return "";
  }
  ++count;
  double scale = valueOf(record.values, lossScaleOutput, 1);
  bool overflowed = left && scale > 1 && std::isfinite(loss) && !std::isfinite(norm);
  overflows = overflowed ? overflows + 1 : 0;
  if (overflowed && overflows <= LossScale::mostHalvings) {
    advice = concat(" ", scaleAdvice(isDynamic(program)));
    return concat("step ", record.step, ": the gradients overflow at a loss scale of ",
                  static_cast<int64_t>(scale), isDynamic(program) ? ", which is halved" : "",
                  "; the step changed no weight");
  }
  ++lastOnes;
  std::string found = concat("step ", record.step, ": loss ", loss, ", grad_norm ", norm);
  if (!std::isfinite(loss) || !std::isfinite(norm))
    found += ": not finite";
  else if (!std::isfinite(rate))
    found += concat(", learning rate ", rate, ": not finite");
  else
    found +=
        concat(rate < 0 ? "" : concat(", learning rate ", rate), ": the update is not finite (",
               largestValue(program.variables(), options.device.group), ")");
  std::optional<std::string> data = inData();
  advice = adviceOn(record, data);
  // What such a step leaves as it is makes the next one no better.
  if (left && !notFinite.empty())
    throw Failure(Exit::numeric, concat(found, ". The run began with ", notFinite,
                                        ", from which no step is finite; correct those weights"));
  // What a run that is replayed was, it was.
  if (!aborts &&
      (options.replay || lastOnes < options.nanLimit.value_or(RunOptions::defaultNanLimit)))
    return concat(found, ", ", left ? "the step changed no weight" : "no gradient was affected",
                  data ? concat("; ", *data) : "");
  if (aborts)
    throw Failure(Exit::numeric,
                  concat(found, ".", newest, advice,
                         options.replay ? "" : "; --nan skip continues without such steps"));
  std::string before = lastOnes == 1   ? "; --nan-limit 1 ends the run at the first such step."
                       : lastOnes == 2 ? ", like the step before it: the model no longer learns."
                                       : concat(", like the ", lastOnes - 1,
                                                " steps before it: the model no longer learns.");
  throw Failure(Exit::numeric, concat(found, before, newest, advice,
                                      "; a larger --nan-limit allows more of them in a row"));
}

void SkippedSteps::requireLearnt(int64_t done) const {
  if (learnt == 0)
    throw Failure(Exit::numeric,
                  concat("Weir skipped each of the ", done,
                         " steps because it was not finite: the model learned nothing.", advice));
}

} // namespace weir
