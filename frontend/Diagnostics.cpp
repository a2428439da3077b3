//===- Diagnostics.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace weir {

Diagnostic &Diagnostic::note(Range range, std::string message) {
  notes.push_back({range, std::move(message)});
  return *this;
}

Diagnostic &Diagnostic::help(std::string message) {
  helps.push_back(std::move(message));
  return *this;
}

Diagnostic &Diagnostic::suggest(const std::optional<std::string> &name) {
  if (name) {
    suggestion = *name;
    helps.push_back("did you mean `" + *name + "`?");
  }
  return *this;
}

Diagnostic &Diagnostics::add(Severity severity, Range range, std::string message) {
  if (!seen.emplace(range.file, range.begin, range.end, message).second)
    return discarded = Diagnostic();
  if (severity == Severity::error && errors++ >= maxKept) {
    ++dropped;
    return discarded = Diagnostic();
  }
  Diagnostic &diagnostic = all.emplace_back();
  diagnostic.severity = severity;
  diagnostic.range = range;
  diagnostic.message = std::move(message);
  return diagnostic;
}

Diagnostic &Diagnostics::warning(Range range, Warning warning, std::string message) {
  if (silenced.count(warning))
    return discarded = Diagnostic();
  Diagnostic &diagnostic = add(Severity::warning, range, std::move(message));
  diagnostic.warning = warning;
  return diagnostic;
}

void Diagnostics::makeWarningsErrors() {
  for (Diagnostic &diagnostic : all)
    if (diagnostic.severity == Severity::warning) {
      diagnostic.severity = Severity::error;
      ++errors;
    }
}

std::vector<const Diagnostic *> Diagnostics::sorted() const {
  std::map<const SourceFile *, size_t> order;
  std::vector<const Diagnostic *> result;
  for (const Diagnostic &diagnostic : all) {
    order.emplace(diagnostic.range.file, order.size());
    result.push_back(&diagnostic);
  }
  std::stable_sort(result.begin(), result.end(), [&](const Diagnostic *a, const Diagnostic *b) {
    return std::make_pair(order[a->range.file], a->range.begin) <
           std::make_pair(order[b->range.file], b->range.begin);
  });
  return result;
}

namespace {

using Json = nlohmann::ordered_json; // members as they are added

constexpr unsigned maxShown = 20;

std::string notShown(unsigned count) {
  return "too many errors, " + std::to_string(count) + " more not shown";
}
constexpr const char *bold = "\033[1m", *red = "\033[1;31m", *yellow = "\033[1;33m",
                     *cyan = "\033[1;36m", *green = "\033[1;32m", *plain = "\033[0m";

const char *spelling(Severity severity) {
  constexpr const char *spellings[] = {"error", "warning", "note"};
  return spellings[static_cast<size_t>(severity)];
}

const char *colourOf(Severity severity) {
  constexpr const char *colours[] = {red, yellow, cyan};
  return colours[static_cast<size_t>(severity)];
}

/// Bytes of the character at `at` if a terminal would obey it instead of showing it: a control, or
/// what turns the direction of writing. 0 for others, line ends and tabs.
size_t controlAt(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  unsigned c = byte(at), next = byte(at + 1), last = byte(at + 2);
  if (c < 0x20 || c == 0x7F)
    return c != '\n' && c != '\t';
  if (c == 0xC2 && next >= 0x80 && next < 0xA0)
    return 2;
  bool turns = (next == 0x80 && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE))) ||
               (next == 0x81 && last >= 0xA6 && last <= 0xA9);
  return c == 0xE2 && turns ? 3 : 0;
}

/// Texts of the model file as they may be printed: what is left out takes a column all the same.
std::string printable(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t control = controlAt(text, at);
    out += control ? '?' : text[at];
    at += std::max<size_t>(control, 1);
  }
  return out;
}

class Renderer {
public:
  explicit Renderer(bool colour) : colour(colour) {}

  void render(const Diagnostic &diagnostic) {
    std::string text = diagnostic.message;
    if (diagnostic.warning)
      text += std::string(" [-W") + nameOf(*diagnostic.warning) + "]";
    message(diagnostic.range, spelling(diagnostic.severity), colourOf(diagnostic.severity), text);
    for (const Diagnostic::Note &note : diagnostic.notes)
      message(note.range, "note", cyan, note.message);
    for (const std::string &help : diagnostic.helps)
      message({}, "  help", cyan, help);
  }

  std::string out;

private:
  void paint(const char *code, const std::string &text) {
    out += colour ? code + text + plain : text;
  }

  void message(Range range, const char *label, const char *labelColour, const std::string &text) {
    if (range.valid()) {
      LineColumn at = range.file->locate(range.begin);
      paint(bold, range.file->name() + ":" + std::to_string(at.line) + ":" +
                      std::to_string(at.column) + ":");
      out += ' ';
    }
    paint(labelColour, std::string(label) + ":");
    out += ' ';
    paint(bold, printable(text));
    out += '\n';
    if (range.valid())
      excerpt(range);
  }

  /// The first line of the range, with what of it stands on that line underlined.
  void excerpt(Range range) {
    unsigned number = range.file->locate(range.begin).line;
    std::string_view line = range.file->line(number);
    uint32_t start = range.file->lineStart(number);
    size_t from = std::min<size_t>(range.begin - start, line.size());
    size_t to = std::min<size_t>(std::max(range.end, range.begin) - start, line.size());
    // A line of a generated file may have any length: show what surrounds the place.
    constexpr size_t before = 80, width = 160;
    size_t first = from > before ? from - before : 0;
    while (first > 0 && (line[first] & 0xC0) == 0x80)
      --first;
    line = line.substr(first, width + 3);
    while (line.size() > width && (line[line.size() - 1] & 0xC0) == 0x80)
      line.remove_suffix(1);
    from -= first;
    to = std::min(to - first, line.size());

    char margin[24];
    std::snprintf(margin, sizeof margin, "%5u | ", number);
    out += margin;
    out += printable(line);
    out += "\n      | ";
    std::string underline;
    for (size_t i = 0; i < from; ++i)
      if ((line[i] & 0xC0) != 0x80)
        out += line[i] == '\t' ? '\t' : ' ';
    for (size_t i = from; i < to; ++i)
      if ((line[i] & 0xC0) != 0x80)
        underline += underline.empty() ? '^' : '~';
    paint(green, underline.empty() ? "^" : underline);
    out += '\n';
  }

  bool colour;
};

/// The message and, where there is a range, where it is.
void place(Json &object, Range range, const std::string &message) {
  object["message"] = message;
  if (!range.valid())
    return;
  LineColumn begin = range.file->locate(range.begin), end = range.file->locate(range.end);
  object["file"] = range.file->name();
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["endLine"] = end.line;
  object["endColumn"] = end.column;
}

/// On a line. JSON is UTF-8, and a source file may be anything.
std::string lineOf(const Json &object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string Diagnostics::render(bool colour) const {
  Renderer renderer(colour);
  std::map<Severity, unsigned> shown;
  for (const Diagnostic *diagnostic : sorted())
    if (++shown[diagnostic->severity] <= maxShown)
      renderer.render(*diagnostic);
  if (errors > maxShown)
    renderer.out += notShown(errors - maxShown) + "\n";
  for (Severity severity : {Severity::warning, Severity::note})
    if (unsigned count = shown[severity]; count > maxShown)
      renderer.out += std::string("too many ") + spelling(severity) + "s, " +
                      std::to_string(count - maxShown) + " more not shown\n";
  return std::move(renderer.out);
}

std::string Diagnostics::renderJson() const {
  std::string out;
  for (const Diagnostic *diagnostic : sorted()) {
    Json object;
    object["severity"] = spelling(diagnostic->severity);
    place(object, diagnostic->range, diagnostic->message);
    Json notes = Json::array();
    for (const Diagnostic::Note &note : diagnostic->notes)
      place(notes.emplace_back(Json::object()), note.range, note.message);
    object["notes"] = std::move(notes);
    object["helps"] = diagnostic->helps;
    if (diagnostic->warning)
      object["warning"] = nameOf(*diagnostic->warning);
    if (!diagnostic->suggestion.empty())
      object["suggestion"] = diagnostic->suggestion;
    out += lineOf(object);
  }
  if (dropped > 0) {
    Json object;
    object["severity"] = spelling(Severity::error);
    place(object, {}, notShown(dropped));
    object["notes"] = Json::array();
    object["helps"] = Json::array();
    out += lineOf(object);
  }
  return out;
}

} // namespace weir
