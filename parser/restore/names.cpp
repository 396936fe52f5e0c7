// Names are looked up in this order: locals, definitions of the text, operators, the prelude.
#include "parser/restore/names.h"

namespace parser::restoring {

GlobalNames::GlobalNames(const lang::Module& module, const lang::OperatorTable& operators)
    : operators_(operators) {
  for (size_t i = module.preludeGlobals; i < module.globals.size(); ++i)
    own_.insert(module.globals[i]->name);
  for (size_t i = 0; i < module.typeDefinitions.size(); ++i)
    for (const lang::Constructor* constructor : module.typeDefinitions[i]->constructors) {
      constructors_.insert(constructor->name);
      if (i >= module.preludeTypes)
        own_.insert(constructor->name);
    }
}

bool GlobalNames::isOperator(std::string_view name) const {
  return operators_.find(name) || operators_.find("nn." + std::string(name));
}

Spelling GlobalNames::of(std::string_view name) const {
  bool isHidden = !isOwn(name) && isOperator(name);
  return {isHidden ? "prelude" : "", name};
}

std::string_view LocalNames::of(const lang::Var& var) const {
  return var.number < names_.size() ? names_[var.number] : std::string_view();
}

std::string_view LocalNames::bind(lang::Arena& arena, const lang::Var& var, std::string_view hint) {
  return enter(arena, var, isTaken(hint) ? numbered(arena.copyText(hint)) : std::string(hint));
}

std::string_view LocalNames::number(lang::Arena& arena, const lang::Var& var) {
  return enter(arena, var, numbered("x"));
}

/// Such a name is none of operators, which might be hidden, nor of other locals.
std::string LocalNames::numbered(std::string_view prefix) {
  for (;;) {
    std::string name = std::string(prefix) + std::to_string(++counts_[prefix]);
    if (!isTaken(name) && !expected_.contains(name) && !globals_.isOperator(name))
      return name;
  }
}

std::string_view LocalNames::enter(lang::Arena& arena, const lang::Var& var,
                                   std::string_view name) {
  if (var.number >= names_.size())
    names_.resize(std::max<size_t>(var.number + size_t(1), 2 * names_.size()));
  names_[var.number] = arena.copyText(name);
  scope_.push_back(names_[var.number]);
  visible_.insert(scope_.back());
  return scope_.back();
}

void LocalNames::leave(size_t mark) {
  for (; scope_.size() > mark; scope_.pop_back())
    visible_.erase(scope_.back());
}

Spelling LocalNames::ofOperator(std::string_view name) const {
  auto isHidden = [&](std::string_view word) {
    return globals_.isOwn(word) || expected_.contains(word) || globals_.isForm(word);
  };
  constexpr std::string_view network = "nn.";
  if (name.starts_with(network)) {
    std::string_view word = name.substr(network.size());
    bool isPlain = word.find('.') == word.npos && !isHidden(word) && globals_.isShort(name);
    if (isPlain)
      return {"", word};
  }
  return {isHidden(name.substr(0, name.find('.'))) ? "ops" : "", name};
}

} // namespace parser::restoring
