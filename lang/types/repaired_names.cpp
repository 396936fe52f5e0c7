// Which names a reader would take for something else.
#include "lang/types/repaired_names.h"

#include <algorithm>
#include <span>

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

bool begins(std::string_view name) {
  return !name.empty() && (isLetter(name[0]) || name[0] == '_');
}

} // namespace

std::string repairedGlobal(std::string_view name) {
  std::string result = repaired(name);
  return begins(result) ? result : "v" + result;
}

std::string repairedLocal(std::string_view name) {
  std::string result = repaired(name);
  return result.empty() || !isLetter(result[0]) ? "v" + result : result;
}

/// What a text can say stays as it is, since nothing here knows the names that there are beside it.
std::string bareName(std::string_view name) {
  static constexpr std::string_view words[] = {"_", "True", "False", "Tensor"};
  std::string result = withNameBytes(name);
  bool isRead = begins(result) && !isTaken(result) && !isFloat(result) && !isAmong(words, result);
  return isRead ? result : "v" + result;
}

} // namespace lang::printing
