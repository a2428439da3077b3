//===- StrategyOptions.cpp - The strategy on the command line ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/StrategyOptions.h"
#include "support/Error.h"
#include "support/Text.h"
#include "tools/weir/commands/PlanModel.h"
#include "tools/weir/options/SizeOption.h"

namespace weir {
namespace {

using strategy::Field;

void set(const Field &field, CompileOptions &options, const std::string &text) {
  if (std::string wrong = field.set(options.strategy, text); !wrong.empty())
    throw CLI::ValidationError(optionNamed(field), wrong);
}

/// "auto", or words of which that is one.
bool isAutomatic(const Field &field, const std::string &text) {
  if (field.automatic.empty())
    return false;
  const std::vector<std::string> words = split(text, ',');
  const bool says = std::ranges::find(words, field.automatic) != words.end();
  if (says && words.size() > 1)
    throw CLI::ValidationError(
        optionNamed(field),
        concat(field.automatic, " cannot be combined with other values: give it alone"));
  return says;
}

/// The first mesh is the strategy's.
CLI::Option *addMesh(CLI::App &app, const Field &field, CompileOptions &options) {
  return app
      .add_option_function<std::vector<std::string>>(
          optionNamed(field),
          [&field, &options](const std::vector<std::string> &texts) {
            options.otherMeshes.clear();
            for (const std::string &text : texts) {
              if (isChosenMesh(text) && texts.size() > 1)
                throw CLI::ValidationError(
                    optionNamed(field), "auto cannot be combined with other meshes: give it alone");
              if (isChosenMesh(text)) {
                options.chosenMesh = text;
                return;
              }
              CompileOptions one;
              set(field, one, text);
              if (&text == &texts.front())
                options.strategy.mesh = one.strategy.mesh;
              else
                options.otherMeshes.push_back(one.strategy.mesh);
            }
          },
          optionHelp(field))
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option *addList(CLI::App &app, const Field &field, CompileOptions &options) {
  return app
      .add_option_function<std::vector<std::string>>(
          optionNamed(field),
          [&field, &options](const std::vector<std::string> &texts) {
            field.copy(options.strategy, Strategy());
            for (const std::string &text : texts)
              set(field, options, text);
          },
          optionHelp(field))
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option *addSwitch(CLI::App &app, const Field &field, CompileOptions &options) {
  return app.add_flag_callback(
      optionNamed(field),
      [&field, &options] { set(field, options, field.standard == "on" ? "off" : "on"); },
      optionHelp(field));
}

/// Words that may be given one by one, and are one value.
CLI::Option *addWords(CLI::App &app, const Field &field, CompileOptions &options,
                      bool CompileOptions::*chooses) {
  return app
      .add_option_function<std::vector<std::string>>(
          optionNamed(field),
          [&field, &options, chooses](const std::vector<std::string> &texts) {
            const std::string text = join(texts, ",");
            if (!(options.*chooses = isAutomatic(field, text)))
              set(field, options, text);
          },
          optionHelp(field))
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

/// `choose` is told where the value is to be chosen, unless null.
CLI::Option *addValue(CLI::App &app, const Field &field, CompileOptions &options,
                      bool CompileOptions::*chooses) {
  return app.add_option_function<std::string>(
      optionNamed(field),
      [&field, &options, chooses](const std::string &text) {
        if (chooses && (options.*chooses = isAutomatic(field, text)))
          return;
        set(field, options, text);
      },
      optionHelp(field));
}

CLI::Option *addMemory(CLI::App &app, const Field &field, CompileOptions &options) {
  return app.add_option_function<std::string>(
      optionNamed(field),
      [&field, &options](const std::string &text) {
        try {
          set(field, options, sizeInBytes(text, options.memoryIsHere));
        } catch (const CLI::ValidationError &error) {
          throw CLI::ValidationError(optionNamed(field), error.what());
        }
      },
      optionHelp(field));
}

/// A field whose default is a value shows it.
void showDefault(const Field &field, CLI::Option &option) {
  Strategy scratch;
  if (!field.value.empty() && field.form != Field::Form::list &&
      field.help.find("default") == field.help.npos && field.set(scratch, field.standard).empty())
    option.default_str(std::string(field.standard));
}

CLI::Option *add(CLI::App &app, const Field &field, CompileOptions &options) {
  if (field.name == "mesh")
    return addMesh(app, field, options);
  if (field.name == "memory")
    return addMemory(app, field, options);
  if (field.form == Field::Form::list)
    return addList(app, field, options);
  if (field.value.empty())
    return addSwitch(app, field, options);
  if (field.name == "offload")
    return addWords(app, field, options, &CompileOptions::choosesOffload);
  return addValue(app, field, options,
                  field.name == "microbatches" ? &CompileOptions::choosesMicrobatches : nullptr);
}

} // namespace

void addStrategyOptions(CLI::App &app, CompileOptions &options,
                        const std::function<bool(const Field &)> &has) {
  for (const Field &field : strategy::fields()) {
    if (field.by == Field::By::compiler || !has(field))
      continue;
    CLI::Option *option = add(app, field, options);
    option->group(concat(field.groupName(), field.isCommon ? "" : " (more)"));
    if (!field.value.empty())
      option->type_name(std::string(field.value));
    showDefault(field, *option);
  }
}

std::string canonicalValue(const std::string &option, const std::string &text) {
  for (const Field &field : strategy::fields()) {
    if (field.value.empty() || optionNamed(field) != option)
      continue;
    Strategy scratch;
    bool isHere = false;
    std::string value = field.name == "memory" ? sizeInBytes(text, isHere) : text;
    return isHere || !field.set(scratch, value).empty() ? text : join(field.texts(scratch));
  }
  return text;
}

strategy::Context contextOf(const CompileOptions &options) {
  return {.target = *options.target,
          .others = options.otherMeshes,
          .choseMesh = options.choseMesh,
          .choosesMicrobatches = options.choosesMicrobatches,
          .choosesOffload = options.choosesOffload,
          .memoryIsHere = options.memoryIsHere};
}

void checkStrategy(const CompileOptions &options, const std::string &file) {
  strategy::Context context = contextOf(options);
  // A planner chose the mesh: what is said besides is for meshes that have a use for it.
  context.choseMesh |= !file.empty() || !options.plan.empty();
  if (std::string wrong = strategy::brokenRule(options.strategy, context); !wrong.empty())
    throw Failure(Exit::usage, file.empty() ? wrong : concat("--plan ", file, ": ", wrong));
}

void requireOneMesh(const CompileOptions &options, const std::string &what) {
  if (!options.otherMeshes.empty())
    throw Failure(Exit::usage, concat(what, " works on one mesh, but --mesh is given ",
                                      1 + options.otherMeshes.size(), " times: give it once"));
}

} // namespace weir
