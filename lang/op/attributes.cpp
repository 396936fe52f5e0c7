// Attribute values, their defaults, and typed access.
#include "lang/op/attributes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace lang {

AttributeValue intAttribute(int64_t value, uint8_t width) {
  return {.kind = AttributeValueKind::Int, .width = width, .integer = value};
}

AttributeValue floatAttribute(double value) {
  return {.kind = AttributeValueKind::Float, .real = value};
}

AttributeValue boolAttribute(bool value) {
  return {.kind = AttributeValueKind::Bool, .integer = value};
}

AttributeValue stringAttribute(std::string_view text) {
  return {.kind = AttributeValueKind::String, .text = text};
}

AttributeValue listAttribute(std::span<const AttributeValue> items) {
  return {.kind = AttributeValueKind::List, .items = items};
}

bool operator==(const AttributeValue& left, const AttributeValue& right) {
  return left.kind == right.kind && left.width == right.width && left.integer == right.integer &&
         std::bit_cast<uint64_t>(left.real) == std::bit_cast<uint64_t>(right.real) &&
         left.text == right.text && left.expr == right.expr && left.meta == right.meta &&
         std::ranges::equal(left.items, right.items);
}

namespace {

/// Reads the text of a default: a cursor over one value.
class DefaultReader {
public:
  DefaultReader(Arena& arena, std::string_view text) : arena_(arena), rest_(text) {}

  AttributeValue read() {
    skipBlanks();
    if (take("None"))
      return {};
    if (take("True"))
      return boolAttribute(true);
    if (take("False"))
      return boolAttribute(false);
    if (take("\""))
      return string();
    if (take("["))
      return list();
    return number();
  }

private:
  void skipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == ','))
      rest_.remove_prefix(1);
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  AttributeValue string() {
    size_t end = rest_.find('"');
    AttributeValue value = stringAttribute(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }

  AttributeValue list() {
    std::vector<AttributeValue> items;
    for (skipBlanks(); !take("]"); skipBlanks())
      items.push_back(read());
    return listAttribute(arena_.copy(items));
  }

  AttributeValue number() {
    size_t end = rest_.find_first_of(",] ");
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(std::min(rest_.size(), word.size()));
    if (word.find_first_of(".ef") != std::string::npos)
      return floatAttribute(std::strtod(word.c_str(), nullptr));
    return intAttribute(std::strtoll(word.c_str(), nullptr, 10));
  }

  Arena& arena_;
  std::string_view rest_;
};

std::vector<int64_t> integersOf(const AttributeValue& value) {
  if (value.kind == AttributeValueKind::Null)
    return {};
  if (value.kind != AttributeValueKind::List)
    return {value.integer};
  std::vector<int64_t> result;
  for (const AttributeValue& item : value.items)
    result.push_back(item.integer);
  return result;
}

double realOf(const AttributeValue& value) {
  return value.kind == AttributeValueKind::Float ? value.real : double(value.integer);
}

} // namespace

AttributeValue parseAttributeDefault(Arena& arena, std::string_view text) {
  return DefaultReader(arena, text).read();
}

const AttributeValue& Attributes::get(std::string_view name) const {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name)
      return values[i];
  throw std::logic_error("no attribute named " + std::string(name));
}

bool Attributes::isNull(std::string_view name) const {
  return get(name).kind == AttributeValueKind::Null;
}

int64_t Attributes::integer(std::string_view name) const {
  return get(name).integer;
}

double Attributes::real(std::string_view name) const {
  return realOf(get(name));
}

bool Attributes::boolean(std::string_view name) const {
  return get(name).integer != 0;
}

std::string_view Attributes::text(std::string_view name) const {
  return get(name).text;
}

std::vector<int64_t> Attributes::integers(std::string_view name) const {
  return integersOf(get(name));
}

std::vector<double> Attributes::reals(std::string_view name) const {
  std::vector<double> result;
  for (const AttributeValue& item : get(name).items)
    result.push_back(realOf(item));
  return result;
}

std::vector<std::vector<int64_t>> Attributes::integerLists(std::string_view name) const {
  std::vector<std::vector<int64_t>> result;
  for (const AttributeValue& item : get(name).items)
    result.push_back(integersOf(item));
  return result;
}

std::optional<runtime::DType> Attributes::dtype(std::string_view name) const {
  const AttributeValue& value = get(name);
  if (value.kind != AttributeValueKind::String || value.text.empty())
    return std::nullopt;
  return runtime::parseDType(value.text);
}

} // namespace lang
