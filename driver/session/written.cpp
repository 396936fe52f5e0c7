// One walk.
#include "driver/session/written.h"

#include "lang/ir/walk.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"

namespace driver {

Written::Place Written::placeOf(lang::SourceRange range) {
  range = lang::inText(range);
  return {range.begin, range.end};
}

std::pair<Written::Place, lang::ExprKind> Written::valueOf(const lang::Binding& binding) {
  const lang::Expr& value = *binding.value;
  return value.isAtom() ? std::pair(placeOf(binding.place), lang::ExprKind::Var)
                        : std::pair(placeOf(value.range), value.kind);
}

Written writtenIn(const lang::Module& module) {
  Written written;
  for (const lang::Global* global : module.globals)
    if (global->function)
      written.functions.emplace(Written::placeOf(global->function->range),
                                "@" + lang::printable(global->name));
  lang::walk(
      module,
      [&](const lang::Binding& binding) {
        const auto value = Written::valueOf(binding);
        written.values.insert(value);
        if (binding.value->as<lang::Function>())
          written.functions.emplace(value.first, binding.var->name.empty()
                                                     ? "fn"
                                                     : "%" + lang::printable(binding.var->name));
      },
      [](const lang::Operand&) {});
  return written;
}

} // namespace driver
