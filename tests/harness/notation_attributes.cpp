// Values are those of Relay's text, word by word.
#include "tests/harness/notation_attributes.h"

#include "lang/op/attribute_schema.h"
#include "runtime/short_names.h"
#include "stdlib/ops.h"
#include "tests/harness/draw.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

/// One word of an attribute's value in Relay's text: `True`, `2f`.
std::string ownWord(const std::string& word) {
  if (word == "True" || word == "False" || word == "None")
    return word == "True" ? "true" : word == "False" ? "false" : "none";
  bool isReal = word.ends_with("f") && word.find_first_of("0123456789") != std::string::npos;
  if (!isReal)
    return word;
  std::string number = word.substr(0, word.size() - 1);
  return number + (number.find_first_of(".e") == std::string::npos ? ".0" : "");
}

/// An attribute's value of Relay's text, word by word; texts stay.
std::string ownValue(const std::string& text) {
  std::string made, word;
  bool isQuoted = false;
  for (char letter : text + "\n") {
    isQuoted ^= letter == '"';
    bool isWord = !isQuoted && (std::isalnum(uint8_t(letter)) || letter == '.' || letter == '-' ||
                                letter == '+');
    if (isWord) {
      word += letter;
      continue;
    }
    made += ownWord(word);
    word.clear();
    if (letter != '\n')
      made += letter;
  }
  return made;
}

/// The integer that stands for a list of equal ones, if it does.
std::optional<std::string> oneForAll(const AttributeRow& row, const std::string& text) {
  if (row.kind != AttributeKind::IntList || !text.starts_with("[") || text == "[]")
    return std::nullopt;
  Arena arena;
  std::vector<AttributeValue> items;
  for (size_t at = 1; at < text.size(); at = text.find_first_of(",]", at) + 1) {
    at = text.find_first_not_of(" ,", at);
    int64_t number = 0;
    if (at == text.npos ||
        std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc())
      break;
    items.push_back(intAttribute(number));
  }
  AttributeValue list = storedAttribute(arena, row, listAttribute(arena.copy(items)));
  return storedAttribute(arena, row, items[0]) == list
             ? std::optional(std::to_string(items[0].integer))
             : std::nullopt;
}

} // namespace

const OperatorRow& operatorOf(const Node& node) {
  const OperatorTable& operators = stdlib::operatorTable();
  return *(node.isInfix ? operators.findInfix(node.text) : operators.find(node.text));
}

std::string NotationAttributes::operatorName(const OperatorRow& row, NodeId id) {
  std::string name(row.name);
  const OperatorTable& operators = stdlib::operatorTable();
  bool isFailure = name == operators.withRole(Role::Fail).name;
  if (name.starts_with("nn.")) {
    std::string word = name.substr(3);
    if (word.find('.') == word.npos && !operators.find(word) && !plan_.hides(word) &&
        spelling_.takes(Form::ShortName, id, 60))
      return word;
  }
  bool isHiddenHere = plan_.hides(name.substr(0, name.find('.'))) || isFailure;
  return isHiddenHere || spelling_.takes(Form::HiddenName, id, 4) ? "ops." + name : name;
}

std::string NotationAttributes::value(const AttributeRow& row, const std::string& text, NodeId id) {
  if (row.kind == AttributeKind::DType && text.size() > 2) {
    auto dtype = runtime::parseDType(text.substr(1, text.size() - 2));
    std::string word = dtype ? runtime::shortDTypeName(*dtype) : "";
    if (dtype && runtime::dtypeName(*dtype) == text.substr(1, text.size() - 2) &&
        !plan_.hides(word) && spelling_.takes(Form::ShortAttribute, id, 70))
      return word;
  }
  if (auto one = oneForAll(row, text); one && spelling_.takes(Form::ShortAttribute, id, 70))
    return *one;
  return ownValue(text);
}

std::vector<Argument> NotationAttributes::of(const Node& node, NodeId id, const OperatorRow& row) {
  auto defaults = stdlib::operatorTable().defaults(&row);
  auto isOperand = [&](std::string_view name) {
    return std::ranges::find(row.operands, name, &OperandRow::name) != row.operands.end();
  };
  std::vector<std::optional<std::string>> given(row.attributes.size());
  size_t positional = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const AttributeRow& its = row.attributes[i];
    auto found = std::ranges::find(node.attributes, std::string(its.name), &NamedText::name);
    if (found != node.attributes.end())
      given[i] = found->value;
    else if (its.isByUse)
      given[i] = attributeText(defaults[i]);
    if (given[i] && isOperand(its.name))
      positional = i + 1;
  }
  size_t leading = 0;
  while (leading < given.size() && given[leading])
    ++leading;
  if (leading > positional && spelling_.takes(Form::PositionalAttribute, id, 30))
    positional = std::max(positional, 1 + spelling_.index(Form::PositionalAttribute, id, leading));
  std::vector<Argument> made;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] || i < positional)
      made.push_back(
          {.text = value(row.attributes[i], given[i] ? *given[i] : attributeText(defaults[i]), id),
           .isAtom = true,
           .name = std::string(row.attributes[i].name),
           .isNamed = i >= positional});
  return made;
}

} // namespace harness
