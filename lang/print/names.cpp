// Keeping names apart.
#include "lang/print/names.h"

#include "lang/types/repaired_names.h"

#include <algorithm>

namespace lang::printing {

Names::Names(std::span<const Global* const> globals) {
  for (const Global* global : globals)
    globals_.emplace(global->name);
  std::vector<const Global*> sorted(globals.begin(), globals.end());
  std::ranges::stable_sort(sorted, {}, [](const Global* global) { return global->name; });
  for (const Global* global : sorted)
    repair(*global);
}

std::string_view Names::keep(std::string_view name) {
  auto* copy = static_cast<char*>(memory_.allocate(name.size(), 1));
  std::ranges::copy(name, copy);
  return {copy, name.size()};
}

std::string Names::local(std::string_view hint) {
  std::string prefix = repairedLocal(hint);
  std::string name = prefix;
  if (auto known = locals_.find(prefix); known != locals_.end())
    do
      name = prefix + std::to_string(++known->second);
    while (locals_.contains(name));
  locals_.emplace(keep(name), 0);
  return "%" + name;
}

std::vector<std::string> Names::parameters(std::span<const Var* const> parameters) {
  std::vector<std::string> names;
  std::unordered_set<std::string> given;
  for (const Var* parameter : parameters) {
    std::string name = repairedLocal(parameter->name);
    bool isFirst = given.insert(name).second;
    if (isFirst)
      locals_.emplace(keep(name), 0);
    names.push_back(isFirst ? "%" + name : "");
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty())
      names[i] = local(parameters[i]->name);
  return names;
}

void Names::repair(const Global& global) {
  std::string prefix = repairedGlobal(global.name);
  if (prefix == global.name)
    return;
  std::string name = prefix;
  for (size_t i = 1; !globals_.insert(name).second; ++i)
    name = prefix + std::to_string(i);
  repaired_[&global] = std::move(name);
}

std::string Names::global(const Global& global) const {
  auto known = repaired_.find(&global);
  return "@" + (known == repaired_.end() ? std::string(global.name) : known->second);
}

} // namespace lang::printing
