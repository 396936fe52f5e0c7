// The places of all bindings are looked up once, so that a run need not.
#include "driver/debug/breakpoints.h"

#include "driver/session/derived_code.h"
#include "lang/ir/walk.h"
#include "lang/source/edit_distance.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"
#include "runtime/formats/quote.h"

#include <charconv>
#include <fmt/format.h>
#include <set>

namespace driver {

using runtime::Error;
using runtime::Result;

Breakpoints::Breakpoints(const Program& program, const lang::SourceMap& sources,
                         const RunNames& names)
    : program_(program), sources_(sources), names_(names) {
  DerivedCode code(program);
  for (const lang::Global* global : program.module->globals)
    if (global->function)
      functions_.push_back(global->function);
  lang::walk(
      *program.module,
      [&](const lang::Binding& binding) {
        if (const auto* function = binding.value->as<lang::Function>())
          functions_.push_back(function);
        const lang::SourceRange range = binding.value->range;
        if (!code.isStep(binding) || lang::isOnWayBack(range))
          return;
        if (const lang::SourceFile* file = range.isValid() ? sources.find(range) : nullptr)
          places_[&binding] = {file, file->position(range.begin).line};
      },
      [](const lang::Operand&) {});
}

Result<const Breakpoint*> Breakpoints::add(std::string_view where, std::string_view condition) {
  size_t colon = where.rfind(':');
  bool isName = where.starts_with('@') || where.starts_with('%');
  auto made = where == "on nan"
                  ? Result<Breakpoint>({.text = "NaN and infinity", .isOnNonFinite = true})
              : isName ? atName(where)
                       : atLine(where.substr(0, colon == where.npos ? 0 : colon),
                                where.substr(colon == where.npos ? 0 : colon + 1));
  if (!made)
    return made.failure();
  made->number = ++last_;
  made->condition = condition;
  if (!condition.empty())
    made->text += fmt::format(" if {}", lang::printable(condition));
  points_.push_back(*std::move(made));
  return &points_.back();
}

Result<Breakpoint> Breakpoints::atLine(std::string_view file, std::string_view line) const {
  uint32_t wanted = 0;
  auto end = std::from_chars(line.data(), line.data() + line.size(), wanted);
  if (line.empty() || end.ec != std::errc() || end.ptr != line.data() + line.size())
    return Error{fmt::format("{} is no place; places are `LINE`, `FILE:LINE`, `@function`, "
                             "`%variable` and `on nan`",
                             formats::backquoted(line))};
  Breakpoint point;
  bool isKnown = false;
  for (const auto& [binding, place] : places_) {
    bool fits = file.empty() ? place.file == program_.source : place.file->name() == file;
    isKnown |= fits;
    if (fits && place.line >= wanted && (!point.file || place.line < point.line)) {
      point.file = place.file;
      point.line = place.line;
    }
  }
  if (!isKnown && !file.empty())
    return Error{fmt::format("no code is from a file {}", formats::backquoted(file))};
  if (!point.file)
    return Error{fmt::format("there is no code at line {} or below", wanted)};
  point.text = point.file == program_.source
                   ? fmt::format("line {}", point.line)
                   : fmt::format("{}:{}", lang::printable(point.file->name()), point.line);
  if (point.line != wanted)
    point.text += ", the next one with code";
  return point;
}

Result<Breakpoint> Breakpoints::atName(std::string_view name) const {
  Breakpoint point;
  std::set<std::string_view> known;
  for (const lang::Function* function : functions_) {
    if (names_.isOf(*function, name) && name.starts_with('@'))
      point.functions.insert(function);
    known.insert(names_.of(*function));
    for (const lang::Var* parameter : function->parameters) {
      if (names_.of(*parameter) == name)
        point.functions.insert(function);
      known.insert(names_.of(*parameter));
    }
  }
  for (const auto& [binding, place] : places_) {
    if (names_.of(*binding->var) == name)
      point.bindings.insert(binding);
    if (names_.isNamed(*binding->var))
      known.insert(names_.of(*binding->var));
  }
  std::set<Written::Place> texts;
  for (const lang::Function* function : point.functions)
    texts.insert(Written::placeOf(function->range));
  for (const lang::Binding* binding : point.bindings)
    texts.insert(Written::placeOf(binding->value->range));
  size_t places = texts.size();
  if (places == 0) {
    auto similar = lang::similarNames(name, known);
    return Error{
        fmt::format("nothing is called {}{}", formats::backquoted(name),
                    similar.empty() ? "" : fmt::format("; did you mean `{}`?", similar[0]))};
  }
  point.text = places == 1 ? std::string(name) : fmt::format("{}, {} places", name, places);
  return point;
}

bool Breakpoints::remove(uint32_t number) {
  return std::erase_if(points_, [&](const Breakpoint& point) { return point.number == number; }) >
         0;
}

const Breakpoint* Breakpoints::at(const lang::Function& function, const Holds& holds) const {
  for (const Breakpoint& point : points_)
    if (point.functions.contains(&function) && holds(point))
      return &point;
  return nullptr;
}

const Breakpoint* Breakpoints::onNonFinite(const Holds& holds) const {
  for (const Breakpoint& point : points_)
    if (point.isOnNonFinite && holds(point))
      return &point;
  return nullptr;
}

const Breakpoint* Breakpoints::at(const lang::Binding& binding, uint32_t lineBefore,
                                  const Holds& holds) const {
  if (points_.empty())
    return nullptr;
  auto found = places_.find(&binding);
  for (const Breakpoint& point : points_) {
    bool isOnLine = point.file && found != places_.end() && found->second.file == point.file &&
                    found->second.line == point.line && lineBefore != point.line;
    if ((isOnLine || point.bindings.contains(&binding)) && holds(point))
      return &point;
  }
  return nullptr;
}

uint32_t Breakpoints::lineOf(const lang::Binding& binding) const {
  auto found = places_.find(&binding);
  return found == places_.end() ? 0 : found->second.line;
}

} // namespace driver
