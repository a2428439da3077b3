//===- Diagnostics.h - What is wrong with a model, and where --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of the user, in a model file: each has one primary range, says what was expected and what
// was found, may point at further places, and suggests a fix where one is likely:
//
//   diagnostics.error(name.range, "unknown name `lr_peek`")
//       .note(other.range, "bound here")
//       .suggest(nearestName("lr_peek", inScope));
//
// The same message at the same range is reported once, however many instances of a block run into
// it. Warnings have a name each (frontend/Warnings.h), by which they are silenced.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_DIAGNOSTICS_H
#define WEIR_FRONTEND_DIAGNOSTICS_H

#include "frontend/Source.h"
#include "frontend/Warnings.h"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace weir {

enum class Severity { error, warning, note };

class Diagnostic {
public:
  struct Note {
    Range range; ///< may be nowhere
    std::string message;
  };

  /// Another place that explains the first.
  Diagnostic &note(Range range, std::string message);
  /// What to do, in a sentence.
  Diagnostic &help(std::string message);
  /// "did you mean `x`?"; nothing for no name, so that nearestName() can be passed straight in.
  Diagnostic &suggest(const std::optional<std::string> &name);

  Severity severity = Severity::error;
  std::optional<Warning> warning; ///< of warnings, and of those that were made errors
  Range range;
  std::string message;
  std::vector<Note> notes;
  std::vector<std::string> helps;
  std::string suggestion; ///< the name to write instead of the range; empty for none
};

class Diagnostics {
public:
  /// The reference stays valid until the Diagnostics goes; for a duplicate, and for what is only
  /// counted, it is a scratch object.
  Diagnostic &error(Range range, std::string message) {
    return add(Severity::error, range, std::move(message));
  }
  /// Nothing where it is silenced.
  Diagnostic &warning(Range range, Warning warning, std::string message);
  /// Nothing silences a note, and -Werror leaves it one.
  Diagnostic &note(Range range, std::string message) {
    return add(Severity::note, range, std::move(message));
  }
  /// A note that a name in the model is accepted for one release.
  Diagnostic &renamed(Range range, const std::string &before, const std::string &now) {
    return note(range, "`" + before + "` is now called `" + now +
                           "`; the old name is accepted for one release");
  }
  void silence(std::set<Warning> warnings) { silenced = std::move(warnings); }
  /// What was warned of so far is an error.
  void makeWarningsErrors();

  /// Errors beyond so many are only counted.
  static constexpr unsigned maxKept = 100;

  unsigned errorCount() const { return errors; }
  /// Whether the next error would only be counted: what it could say need not be found out.
  bool full() const { return errors >= maxKept; }
  bool hasErrors() const { return errors != 0; }
  bool empty() const { return all.empty(); }
  /// In order of file (first reported first) and place.
  std::vector<const Diagnostic *> sorted() const;

  /// `file:line:column: error: message`, the source line, a caret and underline, notes, helps.
  /// `colour` adds ANSI colours; whether to is the caller's decision (terminal, NO_COLOR).
  /// Errors beyond the first 20 are only counted, and so are warnings and notes.
  std::string render(bool colour = false) const;
  /// One JSON object per line: severity, message, file, line, column, endLine, endColumn, notes,
  /// helps, suggestion, and of warnings `warning`, the name. Errors beyond the first 100 are only
  /// counted.
  std::string renderJson() const;

private:
  Diagnostic &add(Severity severity, Range range, std::string message);

  std::deque<Diagnostic> all;
  std::set<std::tuple<const SourceFile *, uint32_t, uint32_t, std::string>> seen;
  Diagnostic discarded;
  std::set<Warning> silenced;
  unsigned errors = 0;
  unsigned dropped = 0; ///< of them, not kept
};

} // namespace weir

#endif
