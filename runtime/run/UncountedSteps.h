//===- UncountedSteps.h - Steps whose loss counts nothing -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loss is a sum over a count, such as the number of unmasked labels. If a batch has the count 0,
// its loss and gradients are 0, and the step still applies an optimizer's momentum and decay.
// Header only.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_UNCOUNTEDSTEPS_H
#define WEIR_RUNTIME_RUN_UNCOUNTEDSTEPS_H

#include "runtime/report/Record.h"
#include "support/Text.h"
#include <algorithm>
#include <cstdint>

namespace weir {

class UncountedSteps {
public:
  /// Counts a step that ran: the figures whose count is 0, and those of which a term has the count
  /// 0. Returns a message, or "": it reports only the first such step.
  std::string add(int64_t step, const std::vector<std::string> &uncounted,
                  const std::vector<std::string> &partlyUncounted) {
    if (!std::ranges::count(uncounted, "loss")) {
      bool isFirst = std::ranges::count(partlyUncounted, "loss") && ++partly == 1;
      return isFirst ? concat("warning: step ", step,
                              ": nothing in its batch counts for a term of the loss, so the loss "
                              "omits this term")
                     : "";
    }
    if (++count > 1)
      return "";
    return concat("warning: step ", step,
                  ": nothing in its batch counts for the loss, so its loss and gradients are 0; "
                  "check the data, or the mask that the loss counts with");
  }

  /// A message with their number among `done` steps; "" if there is none.
  std::string notice(int64_t done) const {
    return count == 0 ? ""
                      : concat("warning: ", count, " of ", done,
                               " steps had nothing that counts for the loss");
  }

  void addTo(Values &results) const {
    if (count > 0)
      results.emplace_back("uncounted_steps", static_cast<double>(count));
  }

private:
  int64_t count = 0, partly = 0;
};

} // namespace weir

#endif
