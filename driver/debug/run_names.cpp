// Temporaries are what nested calls give; a graph line has the range of its value.
#include "driver/debug/run_names.h"

#include "driver/debug/graph_lines.h"
#include "driver/session/derived_code.h"
#include "lang/ir/walk.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// What the text says in a range, on one line.
std::string snippet(const lang::SourceMap& sources, lang::SourceRange range) {
  constexpr size_t longest = 40;
  bool isBack = lang::isOnWayBack(range);
  range = lang::inText(range);
  const lang::SourceFile* file = range.isValid() ? sources.find(range) : nullptr;
  if (!file)
    return "_";
  std::string_view text = file->text().substr(range.begin - file->base(), range.end - range.begin);
  size_t end = std::min(text.find('\n'), longest);
  std::string shown = lang::printable(text.substr(0, end));
  return fmt::format("{}{}{}", isBack ? "way back of " : "", shown, end < text.size() ? "..." : "");
}

constexpr std::string_view derivative = ", derivative";

} // namespace

std::string writtenName(const Program& program, lang::SourceRange range, const std::string& other) {
  const auto& names = program.written.functions;
  const Written::Place place = Written::placeOf(range);
  if (auto found = names.find(place); found != names.end())
    return found->second;
  // What is around it begins before it, the innermost one last.
  for (auto around = names.lower_bound(place); lang::isOnWayBack(range) && around != names.begin();)
    if ((--around)->first.second >= place.second)
      return around->second;
  return other;
}

bool RunNames::isOf(const lang::Function& function, std::string_view name) const {
  std::string_view full = of(function);
  return full.starts_with(name) &&
         (full.size() == name.size() || full.substr(name.size()) == derivative);
}

RunNames::RunNames(const Program& program, const lang::SourceMap& sources)
    : functions_(program.module->functionCount, "fn"), vars_(program.module->varCount),
      isNamed_(program.module->varCount) {
  const auto lines = program.tree ? graphLines(*program.tree) : decltype(graphLines({}))();
  auto setName = [&](const lang::Var& var, const std::string& name) {
    vars_[var.number] = "%" + name;
    isNamed_[var.number] = true;
  };
  auto name = [&](const lang::Var& var) {
    if (!var.name.empty())
      setName(var, lang::printable(var.name));
  };
  auto nameParameters = [&](const lang::Function& function) {
    for (const lang::Var* parameter : function.parameters)
      name(*parameter);
  };
  auto nameBinding = [&](const lang::Binding& binding, const std::string& around) {
    const lang::SourceRange range = binding.value->range;
    name(*binding.var);
    if (auto line = lines.find({range.begin, range.end});
        !isNamed(*binding.var) && line != lines.end())
      setName(*binding.var, std::to_string(line->second));
    if (!isNamed(*binding.var))
      vars_[binding.var->number] = snippet(sources, range);
    if (const auto* function = binding.value->as<lang::Function>()) {
      nameParameters(*function);
      if (lang::isOnWayBack(range))
        functions_[function->number] = writtenName(program, range, around).append(wayBack);
      else if (isNamed(*binding.var))
        functions_[function->number] = of(*binding.var);
    }
    if (const auto* match = binding.value->as<lang::Match>())
      for (const lang::Arm& arm : match->arms)
        lang::forEachPatternVar(*arm.pattern, name);
  };
  for (const lang::Global* global : program.module->globals) {
    if (!global->function)
      continue;
    const lang::Function& function = *global->function;
    const std::string written =
        writtenName(program, function.range, "@" + lang::printable(global->name));
    functions_[function.number] =
        fmt::format("{}{}", written, lang::isOnWayBack(function.range) ? derivative : "");
    nameParameters(function);
    lang::walk(
        *function.body, [&](const lang::Binding& binding) { nameBinding(binding, written); },
        [](const lang::Operand&) {});
  }
  nameValues(program);
}

/// What stands for the value of a call with a pull-back has the name of the call.
void RunNames::nameValues(const Program& program) {
  DerivedCode code(program);
  lang::walk(
      *program.module,
      [&](const lang::Binding& binding) {
        const lang::Binding* value = code.valueBinding(*binding.var);
        if (!value)
          return;
        const lang::Var& named = isNamed(*value->var) ? *value->var : *binding.var;
        const lang::Var& other = isNamed(*value->var) ? *binding.var : *value->var;
        vars_[other.number] = of(named);
        isNamed_[other.number] = isNamed(named);
      },
      [](const lang::Operand&) {});
}

} // namespace driver
