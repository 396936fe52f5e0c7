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

bool isAmong(std::span<const std::string_view> words, std::string_view name) {
  return std::ranges::find(words, name) != words.end();
}

/// True for words that a reader takes for something else, with or without a sigil before them.
bool isTaken(std::string_view name) {
  static constexpr std::string_view words[] = {
      "let",    "fn",       "def", "if",       "else",      "type", "match",
      "extern", "free_var", "ref", "ref_read", "ref_write", "meta"};
  return isAmong(words, name);
}

/// True for the literals of floats, which TVM finds at the beginning of longer names too.
bool isFloat(std::string_view name) {
  static constexpr std::string_view literals[] = {"inff", "inff16", "inff32", "inff64",
                                                  "nanf", "nanf16", "nanf32", "nanf64"};
  return isAmong(literals, name);
}

bool beginsAsFloat(std::string_view name) {
  return name.starts_with("inff") || name.starts_with("nanf");
}

std::string withNameBytes(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (!isNameByte(c))
      c = '_';
  return result;
}

/// A name that has a sigil before it.
std::string repaired(std::string_view name) {
  std::string result = withNameBytes(name);
  return isTaken(result) || beginsAsFloat(result) ? "v" + result : result;
}

std::string repairedLocal(std::string_view name) {
  std::string result = repaired(name);
  return result.empty() || !isLetter(result[0]) ? "v" + result : result;
}

} // namespace

/// What a text can say stays as it is, since nothing here knows the names that there are beside it.
std::string bareName(std::string_view name) {
  static constexpr std::string_view words[] = {"_", "True", "False", "Tensor"};
  std::string result = withNameBytes(name);
  bool begins = !result.empty() && (isLetter(result[0]) || result[0] == '_');
  if (!begins || isTaken(result) || isFloat(result) || isAmong(words, result))
    result.insert(0, "v");
  return result;
}

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
  std::string prefix = repaired(global.name);
  if (prefix.empty() || !(isLetter(prefix[0]) || prefix[0] == '_'))
    prefix.insert(0, "v");
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
