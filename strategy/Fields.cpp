//===- Fields.cpp - The fields of a strategy, one row each ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Fields.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "support/precision/ParameterDtype.h"
#include <algorithm>
#include <charconv>
#include <concepts>

namespace weir::strategy {
namespace {

/// "" where the text is a whole number from `least` to `most`, which is put into `value`.
std::string wholeNumber(std::string_view text, int64_t least, int64_t most, int64_t &value) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return concat("expected a whole number from ", least,
                  most == INT64_MAX ? "" : concat(" to ", most), butFound(text));
  value = number;
  return "";
}

template <int64_t least, int64_t most> std::string readNumber(std::string_view text, int64_t &v) {
  return wholeNumber(text, least, most, v);
}

std::string readParamType(std::string_view text, Element &type) {
  std::optional<Element> named = parameterDtypeNamed(text);
  if (!named)
    return concat("expected ", parameterDtypeOptions(), butFound(text));
  type = *named;
  return "";
}

std::string readReduceType(std::string_view text, Element &type) {
  for (Element element : {Element::f32, Element::bf16, Element::f16})
    if (text == nameOf(element)) {
      type = element;
      return "";
    }
  return concat("expected f32, bf16 or f16", butFound(text));
}

template <class T> std::string readNamed(std::string_view text, T &value) {
  return valueOf(text, value);
}

// What a member has of a value's type T: whether it is given, and which it is.

template <class T> bool has(const Setting<T> &member) { return member.isGiven(); }
template <class T> bool has(const std::optional<T> &member) { return member.has_value(); }
bool has(const Mesh &member) { return !member.axes.empty(); }
bool has(int64_t member) { return member != 1; } // threads
bool has(const std::vector<std::string> &member) { return !member.empty(); }

template <class T> const T &in(const Setting<T> &member) { return *member; }
template <class T> const T &in(const std::optional<T> &member) { return *member; }
const Mesh &in(const Mesh &member) { return member; }
int64_t in(int64_t member) { return member; }

template <class T> bool isSame(const Setting<T> &one, const Setting<T> &other) {
  return *one == *other;
}
template <class T> bool isSame(const T &one, const T &other) { return one == other; }

template <class T> T initial(const Setting<T> &member) { return *member; }
template <class T> T initial(const std::optional<T> &) { return T(); }
Mesh initial(const Mesh &) { return {}; }
int64_t initial(int64_t) { return 0; }

/// Whether a text of a strategy, "recompute=a recompute=b" in quotation marks, cannot have the
/// letter in a value.
bool endsWord(char letter) {
  return (letter >= 0 && letter <= ' ') || letter == '"' || letter == '\\';
}

/// What is said of a field by whoever adds it.
struct Words {
  std::string_view name;
  Field::Group group;
  Field::By by;
  bool isCommon;
  std::string_view value, help, standard, automatic = "";
  Field::Record record = Field::Record::free;
};

/// `read` sets a value by a text, and returns "" or what is wrong with that.
template <auto member, auto read> constexpr Field fieldOf(Words words, Field::Form form) {
  return {.name = words.name,
          .group = words.group,
          .form = form,
          .by = words.by,
          .isCommon = words.isCommon,
          .value = words.value,
          .help = words.help,
          .standard = words.standard,
          .automatic = words.automatic,
          .record = words.record,
          .isGiven = [](const Strategy &strategy) { return has(strategy.*member); },
          .isDefault =
              [](const Strategy &strategy) { return isSame(strategy.*member, Strategy().*member); },
          .texts =
              [](const Strategy &strategy) {
                std::vector<std::string> texts;
                if (has(strategy.*member))
                  texts.push_back(textOf(in(strategy.*member)));
                return texts;
              },
          .set = [](Strategy &strategy, std::string_view text) -> std::string {
            auto value = initial(strategy.*member);
            if (std::string wrong = read(text, value); !wrong.empty())
              return wrong;
            strategy.*member = std::move(value);
            return "";
          },
          .copy = [](Strategy &to, const Strategy &from) { to.*member = from.*member; }};
}

using enum Field::Group;
using enum Field::By;
using enum Field::Form;
using enum Field::Record;

constexpr Field rows[] = {
    fieldOf<&Strategy::mesh, readNamed<Mesh>>(
        {"mesh", parallelism, planner, true, "AXIS=N,...|auto[:N]",
         "Device mesh, such as dp=2,tp=2 (axes: dp, tp, pp, ep, cp), or auto", "one device",
         "auto"},
        text),
    fieldOf<&Strategy::hosts, readNamed<Mesh>>(
        {"hosts", parallelism, compiler, false, "AXIS=N,...",
         "With --deterministic, the mesh of devices; mesh then lists virtual ranks",
         "one rank per device"},
        text),
    fieldOf<&Strategy::zero, readNumber<0, 3>>(
        {"zero", parallelism, planner, true, "0..3",
         "ZeRO: shard optimizer state (1), gradient sums (2), parameters (3)", "0"},
        integer),
    fieldOf<&Strategy::schedule, readNamed<PipelineSchedule>>(
        {"schedule", parallelism, planner, false, "NAME",
         "Pipeline schedule: gpipe, 1f1b, interleaved[:N] or zero-bubble", "1f1b"},
        text),
    fieldOf<&Strategy::sequenceParallel, readNamed<bool>>(
        {"sequence-parallel", parallelism, planner, false, "on|off",
         "Shard activations between tensor-parallel layers (default: on)", "on"},
        truth),
    fieldOf<&Strategy::contextParallel, readNamed<ContextParallel>>(
        {"context-parallel", parallelism, planner, false, "WAY",
         "Communication of attention over cp: all-to-all, gather or ring",
         "all-to-all if there are enough heads, else gather"},
        text),
    fieldOf<&Strategy::deterministic, readNamed<bool>>(
        {"deterministic", parallelism, user, false, "",
         "Same bits on every mesh whose dp and tp divide 8; slower", "off"},
        truth),

    fieldOf<&Strategy::precision, readNamed<Precision>>(
        {"precision", precision, user, true, "TYPE",
         "Mixed precision: f32, bf16, f16, f8, f8_block or tf32", "f32", "", fixed},
        text),
    fieldOf<&Strategy::paramType, readParamType>(
        {"param-dtype", precision, user, true, "TYPE",
         "Type of parameters and optimizer state: f32 or bf16", "f32", "", fixed},
        text),
    fieldOf<&Strategy::lossScale, readNamed<LossScale>>(
        {"loss-scale", precision, user, false, "SCALE",
         "Scale the loss: none, dynamic[:N] or N (default with f16: dynamic)",
         "dynamic with f16, else none", "", fixed},
        text),

    fieldOf<&Strategy::memory, readNumber<1, INT64_MAX>>(
        {"memory", memory, user, true, "SIZE|here",
         "Memory budget, met by activation checkpointing", "unlimited", "", nothing},
        integer),
    fieldOf<&Strategy::threads, readNumber<1, 4096>>(
        {"threads", memory, compiler, false, "N", "CPU threads of a rank, each with scratch memory",
         "1 in weir-opt, else --threads of weir compile", "", nothing},
        integer),
    fieldOf<&Strategy::microbatches, readNumber<1, INT64_MAX>>(
        {"microbatches", memory, planner, true, "N|auto",
         "Split a step's rows into N microbatches (gradient accumulation)", "the model's", "auto"},
        integer),
    fieldOf<&Strategy::offload, readNamed<Offload>>(
        {"offload", memory, planner, true, "WHAT[,WHAT]",
         "Offload to the host: activations, optimizer, parameters or auto", "none", "auto"},
        text),
    {.name = "recompute",
     .group = memory,
     .form = list,
     .by = planner,
     .isCommon = true,
     .value = "PATTERN",
     .help = "Activation checkpointing: recompute these blocks, such as h.*.mlp",
     .standard = "the model's",
     .automatic = "",
     .record = free,
     .isGiven = [](const Strategy &strategy) { return has(strategy.recompute); },
     .isDefault = [](const Strategy &strategy) { return !has(strategy.recompute); },
     .texts = [](const Strategy &strategy) { return strategy.recompute; },
     .set = [](Strategy &strategy, std::string_view text) -> std::string {
       if (text.empty() || std::ranges::any_of(text, endsWord))
         return concat("expected paths of blocks without spaces or quotation marks, such as "
                       "h.*.mlp, but found \"",
                       text, "\"");
       strategy.recompute.emplace_back(text);
       return "";
     },
     .copy = [](Strategy &to, const Strategy &from) { to.recompute = from.recompute; }},

    fieldOf<&Strategy::overlap, readNamed<bool>>(
        {"overlap", communication, user, false, "", "Overlap communication with computation", "on"},
        truth),
    fieldOf<&Strategy::gradReduceType, readReduceType>(
        {"grad-reduce-dtype", communication, user, false, "TYPE",
         "Type for reducing gradients: f32, or the type of --precision", "f32"},
        text),
    fieldOf<&Strategy::tpReduceType, readReduceType>(
        {"tp-reduce-dtype", communication, user, false, "TYPE",
         "Type for reducing sums over tp: f32, or the type of --precision", "f32"},
        text),
    fieldOf<&Strategy::link, readNamed<Link>>(
        {"link", communication, planner, false, "BYTES/s[,TIME]",
         "Assumed interconnect (default: 10GB/s,20us)", "10GB/s,20us"},
        text),
    fieldOf<&Strategy::rates, readNamed<MeshRates>>(
        {"rates", communication, planner, false, "RATES",
         "Assumed compute rate and bandwidths; the compiler chooses shardings by them",
         "rates of an accelerator of 2023"},
        text),
};

} // namespace

std::string_view Field::groupName() const {
  switch (group) {
  case parallelism:
    return "Parallelism";
  case precision:
    return "Target and precision";
  case memory:
    return "Memory";
  default:
    return "Communication";
  }
}

std::span<const Field> fields() { return rows; }

const Field &field(std::string_view name) { return *findField(name); }

const Field *findField(std::string_view name) {
  auto found = std::ranges::find(rows, name, &Field::name);
  return found == std::end(rows) ? nullptr : &*found;
}

/// Those of the fields of which `isShown` holds.
template <class IsShown> static std::string textOf(const Strategy &strategy, IsShown isShown) {
  std::vector<std::string> words;
  for (const Field &field : rows)
    if (isShown(field))
      for (const std::string &text : field.texts(strategy))
        words.push_back(concat(field.name, "=", text));
  return join(words, " ");
}

std::string textOf(const Strategy &strategy) {
  return textOf(strategy, [](const Field &) { return true; });
}

std::string recordedText(const Strategy &strategy) {
  return textOf(strategy, [&](const Field &field) {
    return field.record != Field::Record::nothing && !field.isDefault(strategy);
  });
}

std::vector<RecordedField> recordedFields(std::string_view text) {
  std::vector<RecordedField> fields;
  for (const std::string &word : split(text, ' '))
    if (size_t equals = word.find('='); equals != word.npos)
      fields.push_back({word.substr(0, equals), word.substr(equals + 1)});
  return fields;
}

Strategy recordedStrategy(std::string_view text) {
  Strategy strategy;
  for (const RecordedField &one : recordedFields(text))
    if (const Field *known = findField(one.name); known && known->record != Field::Record::nothing)
      known->set(strategy, one.value); // a value that is not known changes nothing
  return strategy;
}

/// What is wrong with a word that is no NAME=VALUE of a field.
static std::string notAField(std::string_view word, std::string_view name) {
  if (name.empty())
    return concat("expected NAME=VALUE", butFound(word));
  if (findField(name))
    return concat(name, ": expected ", name, "=VALUE");
  std::vector<std::string> names;
  for (const Field &field : rows)
    names.emplace_back(field.name);
  return concat("unknown strategy field ", name, didYouMean(name, names), "; expected one of ",
                join(names));
}

std::string valueOf(std::string_view text, Strategy &strategy) {
  std::vector<std::string> seen;
  for (const std::string &word : split(text, ' ')) {
    if (word.empty())
      continue;
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Field *found = findField(name);
    if (!found || equals == word.npos)
      return notAField(word, name);
    if (found->form != list && std::ranges::count(seen, name))
      return concat(name, " is given twice: expected it once");
    seen.push_back(name);
    if (std::string wrong = found->set(strategy, word.substr(equals + 1)); !wrong.empty())
      return concat(name, ": ", wrong);
  }
  return "";
}

/// A switch whose option turns it off.
static bool isOnByDefault(const Field &field) {
  return field.value.empty() && field.standard == textOf(true);
}

std::string optionNamed(const Field &field) {
  return concat("--", isOnByDefault(field) ? "no-" : "", field.name);
}

std::string optionHelp(const Field &field) {
  return isOnByDefault(field)
             ? concat("Do not ", lowerCase(field.help.substr(0, 1)), field.help.substr(1))
             : std::string(field.help);
}

std::string optionOf(const Field &field, const Strategy &strategy) {
  std::vector<std::string> words;
  for (const std::string &text : field.texts(strategy))
    if (!field.value.empty())
      words.push_back(
          concat(optionNamed(field), " ", field.form == list ? concat("'", text, "'") : text));
    else if (text != field.standard)
      words.push_back(optionNamed(field));
  return join(words, " ");
}

Strategy parsed(std::string_view text) {
  Strategy strategy;
  if (std::string wrong = valueOf(text, strategy); !wrong.empty())
    throw Failure(Exit::internal, concat("strategy \"", text, "\": ", wrong));
  return strategy;
}

void copyGiven(Strategy &to, const Strategy &from) {
  for (const Field &field : rows)
    if (field.isGiven(from))
      field.copy(to, from);
}

Strategy withoutPlan(const Strategy &asked) {
  const Strategy standard;
  Strategy rest = asked;
  for (const Field &field : rows)
    if (field.by == planner)
      field.copy(rest, standard);
  return rest;
}

Strategy planOf(const Strategy &strategy) {
  Strategy plan;
  for (const Field &field : rows)
    if (field.by == planner)
      field.copy(plan, strategy);
  return plan;
}

std::string planText(const Strategy &strategy) {
  std::vector<std::string> words;
  for (const Field &field : rows)
    if (field.by == planner && field.group != communication && field.isGiven(strategy))
      words.push_back(optionOf(field, strategy));
  return join(words, " ");
}

} // namespace weir::strategy
