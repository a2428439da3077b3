//===- Arguments.cpp - Which argument is whose ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Arguments.h"
#include "frontend/elaborate/Builtins.h"
#include "frontend/foreign/Foreign.h"
#include "support/NearestName.h"

namespace weir::elab {

Signature signatureOf(const ast::CallableItem &callable, unsigned given) {
  Signature signature{callable.name.text, callable.name.range, {}, given};
  for (const ast::Parameter &parameter : callable.parameters) {
    bool optional = parameter.defaultValue != nullptr;
    signature.formals.push_back({parameter.name.text, optional, optional, parameter.range});
  }
  return signature;
}

namespace {

class Assignment {
public:
  Assignment(Reporter &reporter, const Signature &signature,
             const std::vector<CallArgument> &arguments, std::vector<const CallArgument *> &slots)
      : reporter(reporter), signature(signature), formals(signature.formals), arguments(arguments),
        slots(slots), name("`" + signature.name + "`") {}

  bool run(Range call) {
    slots.assign(formals.size(), nullptr);
    byPosition();
    for (const CallArgument &argument : arguments)
      if (argument.name)
        byName(argument);
    // An argument that went astray is probably the one that is missing.
    for (size_t i = 0; good && i < formals.size(); ++i)
      if (!slots[i] && !formals[i].optional)
        declared(report(call, name + " is missing its argument `" + formals[i].name + "`"),
                 formals[i].declared);
    return good;
  }

private:
  Diagnostic &report(Range range, std::string message) {
    good = false;
    Diagnostic &made = reporter.error(range, std::move(message));
    if (signature.declared.valid() && findBuiltin(signature.name))
      made.help(name + " is a definition of the model, which hides the built-in function");
    return made;
  }

  static Diagnostic &declared(Diagnostic &diagnostic, Range where) {
    return where.valid() ? diagnostic.note(where, "declared here") : diagnostic;
  }

  void byPosition() {
    size_t next = 0;
    for (const CallArgument &argument : arguments) {
      if (argument.name)
        continue;
      while (next < formals.size() && formals[next].byName)
        ++next;
      if (next == formals.size())
        return tooMany(argument); // those after it are too many likewise
      slots[next++] = &argument;
    }
  }

  /// An argument has no place: probably it was meant for the first that only has a name.
  void tooMany(const CallArgument &argument) {
    std::string positional, named;
    const Formal *meant = nullptr;
    for (const Formal &formal : llvm::drop_begin(formals, signature.given)) {
      std::string &list = formal.byName ? named : positional;
      list += (list.empty() ? "`" : ", `") + formal.name + "`";
      if (formal.byName && !meant)
        meant = &formal;
    }
    if (!meant) {
      size_t takes = formals.size() - signature.given;
      declared(report(argument.range, name + " takes " + std::to_string(takes) +
                                          (takes == 1 ? " argument" : " arguments") +
                                          ", this is one more"),
               signature.declared);
      return;
    }
    std::string text(argument.range.text());
    if (text.size() > 40 || text.find('\n') != std::string::npos)
      text = "…";
    declared(report(argument.range, "`" + meant->name + "` of " + name +
                                        " has a default and is given by name: `" + meant->name +
                                        " = " + text + "`"),
             signature.declared)
        .help(name + " takes " + (positional.empty() ? "nothing by position" : positional) +
              ", and by name " + named);
  }

  void byName(const CallArgument &argument) {
    std::vector<std::string> names;
    size_t found = formals.size();
    for (size_t i = signature.given; i < formals.size(); ++i) {
      names.push_back(formals[i].name);
      if (names.back() == argument.name->text)
        found = i;
    }
    if (found == formals.size())
      unknown(*argument.name, names);
    else if (slots[found])
      report(argument.name->range,
             "the argument `" + argument.name->text + "` of " + name + " is given twice")
          .note(slots[found]->range, "given here");
    else
      slots[found] = &argument;
  }

  void unknown(const ast::Identifier &argument, const std::vector<std::string> &names) {
    Diagnostic &diagnostic =
        declared(report(argument.range, name + " has no argument `" + argument.text + "`"),
                 signature.declared);
    auto near = nearestName(argument.text, names);
    const ForeignName *foreign = foreignArgument(signature.name, argument.text);
    if (near || !foreign)
      diagnostic.suggest(near);
    else
      diagnostic.help(foreign->help());
  }

  Reporter &reporter;
  const Signature &signature;
  const std::vector<Formal> &formals;
  const std::vector<CallArgument> &arguments;
  std::vector<const CallArgument *> &slots;
  std::string name;
  bool good = true;
};

} // namespace

bool assignArguments(Reporter &reporter, const Signature &signature,
                     const std::vector<CallArgument> &arguments, Range call,
                     std::vector<const CallArgument *> &slots) {
  return Assignment(reporter, signature, arguments, slots).run(call);
}

} // namespace weir::elab
