//===- Page.cpp - docs/reference/strategy.md -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Fields.h"
#include "support/Text.h"

namespace weir::strategy {

static std::string_view setBy(Field::By by) {
  switch (by) {
  case Field::By::planner:
    return "you, or `weir plan`";
  case Field::By::user:
    return "you";
  default:
    return "the compiler";
  }
}

static std::string_view onResume(Field::Record record) {
  switch (record) {
  case Field::Record::nothing:
    return "not recorded";
  case Field::Record::free:
    return "may differ";
  default:
    return "needs `--change`";
  }
}

std::string page() {
  std::string text =
      "# Strategy\n\n"
      "A strategy contains all decisions about how to execute a training step. It is not a part of "
      "the model. You set its fields\n"
      "with options of the command line, or with a plan file. The compiler stores the strategy in "
      "the attribute `weir.strategy` of\n"
      "the module, where passes read it. Artifacts and [checkpoints](checkpoints.md#resuming) "
      "record all fields except `memory` and\n"
      "`threads`. `weir-opt --weir-strategy=\"mesh=dp=2,tp=2 zero=1\"` sets a strategy for a "
      "single pass.\n\n"
      "`weir help strategy` prints this page. Its tables come from `strategy/Fields.cpp`. After a "
      "change of the fields, update the\n"
      "page with `tools/dev/command-reference`.\n";
  std::string_view group;
  for (const Field &field : fields()) {
    if (field.groupName() != group) {
      group = field.groupName();
      text += concat("\n## ", group == "Target and precision" ? "Precision" : group,
                     "\n\n| field | meaning | default | set by | option | in a resumed run |\n"
                     "| --- | --- | --- | --- | --- | --- |\n");
    }
    text +=
        concat("| `", field.name, "` | ", field.help, " | ", field.standard, " | ", setBy(field.by),
               " | ", field.by == Field::By::compiler ? "" : concat("`", optionNamed(field), "`"),
               " | ", onResume(field.record), " |\n");
  }
  return text;
}

} // namespace weir::strategy
