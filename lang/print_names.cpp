// Repairing names and keeping them apart.
#include "lang/print_names.h"

#include <algorithm>

namespace lang::printing {

namespace {

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isNameByte(char c) {
  return isLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '/';
}

/// True for words that a reader takes for something else, with or without a sigil before them.
bool isTaken(std::string_view name) {
  static constexpr std::string_view words[] = {
      "let",    "fn",       "def", "if",       "else",      "type", "match",
      "extern", "free_var", "ref", "ref_read", "ref_write", "meta"};
  return name.starts_with("inff") || name.starts_with("nanf") ||
         std::ranges::find(words, name) != std::end(words);
}

std::string repaired(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (!isNameByte(c))
      c = '_';
  return isTaken(result) ? "v" + result : result;
}

} // namespace

std::string bareName(std::string_view name) {
  std::string result = repaired(name);
  bool begins = !result.empty() && (isLetter(result[0]) || result[0] == '_');
  if (!begins || result == "_" || result == "True" || result == "False" || result == "Tensor")
    result.insert(0, "v");
  return result;
}

Names::Names(std::span<const Global* const> globals) {
  for (const Global* global : globals)
    globals_.emplace(global->name);
}

std::string_view Names::keep(std::string_view name) {
  auto* copy = static_cast<char*>(memory_.allocate(name.size(), 1));
  std::ranges::copy(name, copy);
  return {copy, name.size()};
}

std::string Names::local(std::string_view hint) {
  std::string prefix = repaired(hint);
  if (prefix.empty() || !isLetter(prefix[0]))
    prefix.insert(0, "v");
  std::string name = prefix;
  if (auto known = locals_.find(prefix); known != locals_.end())
    do
      name = prefix + std::to_string(++known->second);
    while (locals_.contains(name));
  locals_.emplace(keep(name), 0);
  return "%" + name;
}

std::string Names::global(const Global& global) {
  if (auto known = repaired_.find(&global); known != repaired_.end())
    return known->second;
  std::string prefix = bareName(global.name);
  if (prefix == global.name)
    return "@" + prefix;
  std::string name = prefix;
  for (size_t i = 1; !globals_.insert(name).second; ++i)
    name = prefix + std::to_string(i);
  return repaired_[&global] = "@" + name;
}

} // namespace lang::printing
