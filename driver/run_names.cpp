// Temporaries are what nested calls give; a graph line has the range of its value.
#include "driver/run_names.h"

#include "driver/graph_lines.h"
#include "lang/utf8.h"
#include "lang/walk.h"

namespace driver {

namespace {

/// What the text says in a range, on one line.
std::string snippet(const lang::SourceMap& sources, lang::SourceRange range) {
  constexpr size_t longest = 40;
  const lang::SourceFile* file = range.isValid() ? sources.find(range) : nullptr;
  if (!file)
    return "_";
  std::string_view text = file->text().substr(range.begin - file->base(), range.end - range.begin);
  size_t end = std::min(text.find('\n'), longest);
  std::string shown = lang::printable(text.substr(0, end));
  return end < text.size() ? shown + "..." : shown;
}

} // namespace

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
  for (const lang::Global* global : program.module->globals)
    if (global->function) {
      functions_[global->function->number] = "@" + lang::printable(global->name);
      nameParameters(*global->function);
    }
  lang::walk(
      *program.module,
      [&](const lang::Binding& binding) {
        const lang::SourceRange range = binding.value->range;
        name(*binding.var);
        if (auto line = lines.find({range.begin, range.end});
            !isNamed(*binding.var) && line != lines.end())
          setName(*binding.var, std::to_string(line->second));
        if (!isNamed(*binding.var))
          vars_[binding.var->number] = snippet(sources, range);
        if (const auto* function = binding.value->as<lang::Function>()) {
          nameParameters(*function);
          if (isNamed(*binding.var))
            functions_[function->number] = of(*binding.var);
        }
        if (const auto* match = binding.value->as<lang::Match>())
          for (const lang::Arm& arm : match->arms)
            lang::forEachPatternVar(*arm.pattern, name);
      },
      [](const lang::Operand&) {});
}

} // namespace driver
