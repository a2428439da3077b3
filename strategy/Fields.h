//===- Fields.h - The fields of a strategy, one row each -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that reads or writes a strategy goes through these rows: options of the command line,
// plan files, the text of the module's attribute, artifacts, checkpoints, `weir inspect`, and the
// reference page.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_FIELDS_H
#define WEIR_STRATEGY_FIELDS_H

#include "strategy/Strategy.h"
#include <span>

namespace weir::strategy {

struct Field {
  enum class Group : uint8_t { parallelism, precision, memory, communication };
  /// How a file that has types writes its value.
  enum class Form : uint8_t { text, integer, truth, list };
  /// Who sets it.
  enum class By : uint8_t {
    planner, ///< `weir plan`, or the user
    user,
    compiler ///< it follows from the others and the target: there is no option
  };
  /// What artifacts and checkpoints record, and what a resumed run may change.
  enum class Record : uint8_t {
    nothing, ///< it describes the machine: where the program is the same, so are its bytes
    free,    ///< a resumed run may have another value
    fixed    ///< a resumed run needs the same value, unless --change names the field
  };

  std::string_view name; ///< "context-parallel": of the option, the key and the attribute
  Group group;
  Form form;
  By by;
  bool isCommon;             ///< `--help` shows it, not only `--help-all`
  std::string_view value;    ///< what stands for its value in --help; "" of a switch
  std::string_view help;     ///< one line
  std::string_view standard; ///< its default, for people to read
  std::string_view
      automatic; ///< "auto": the option takes this too and Weir chooses; "": it does not
  Record record;

  bool (*isGiven)(const Strategy &);
  /// Whether its value is the one of Strategy(), given or not.
  bool (*isDefault)(const Strategy &);
  /// The values given: none or one, of a list all of them. set() takes each.
  std::vector<std::string> (*texts)(const Strategy &);
  /// Sets it, or adds to a list. "", or what is wrong with the text.
  std::string (*set)(Strategy &, std::string_view text);
  /// Takes the other strategy's value.
  void (*copy)(Strategy &to, const Strategy &from);

  std::string_view groupName() const;
};

/// In the order in which people read them.
std::span<const Field> fields();
/// The field of that name; it has to be there.
const Field &field(std::string_view name);
/// The field of that name, or null.
const Field *findField(std::string_view name);

/// The fields that are given, as "mesh=dp=2,tp=2 zero=1". valueOf() takes it.
std::string textOf(const Strategy &strategy);
/// Sets what the text names. "", or what is wrong with it.
std::string valueOf(std::string_view text, Strategy &strategy);

/// The strategy that the text names, which has to be right: for programs, not for users.
Strategy parsed(std::string_view text);

/// What an artifact records: the fields that differ from their defaults, as textOf() prints them,
/// without those that describe the machine.
std::string recordedText(const Strategy &strategy);

struct RecordedField {
  std::string name, value;
};
/// The fields of a recorded text, in its order; a list has several. They may be of a later version
/// of Weir, so neither names nor values need be known here. A word without "=" is left out.
std::vector<RecordedField> recordedFields(std::string_view text);
/// The strategy of a recorded text, without what this version does not know.
Strategy recordedStrategy(std::string_view text);

/// Takes what `from` gives, and leaves the rest of `to` as it is.
void copyGiven(Strategy &to, const Strategy &from);

/// The fields that a planner sets, with their defaults in place of what `asked` gives; the others
/// as it gives them.
Strategy withoutPlan(const Strategy &asked);

/// The fields that a planner sets alone.
Strategy planOf(const Strategy &strategy);

/// The fields that a planner sets as options of a command line, but for those that only describe
/// what it planned for: link and rates.
std::string planText(const Strategy &strategy);

/// The field's option, "--zero"; of a switch that is on by default "--no-overlap". There is none
/// where the compiler sets it.
std::string optionNamed(const Field &field);
/// What the option does, in one line.
std::string optionHelp(const Field &field);
/// A field's value as an option of the command line, "--zero 1"; "" where it is not given.
std::string optionOf(const Field &field, const Strategy &strategy);

/// docs/reference/strategy.md.
std::string page();

} // namespace weir::strategy

#endif
