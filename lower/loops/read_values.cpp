// Operators bind as usual: comparisons weakest, then sums, then products.
#include "lower/loops/read_values.h"

#include "lower/loops/read_form.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace loops {

namespace {

constexpr size_t deepest = 64;

/// How strongly an operator binds; 0 for what is none.
int strengthOf(const Token& token) {
  auto function = token.kind == TokenKind::Sign ? functionOf(token.text) : std::nullopt;
  if (!function)
    return 0;
  switch (*function) {
  case ScalarFunction::Add:
  case ScalarFunction::Subtract:
    return 2;
  case ScalarFunction::Multiply:
  case ScalarFunction::Divide:
    return 3;
  default:
    return 1;
  }
}

} // namespace

uint32_t ValueReader::add(Operation operation) {
  operations_.push_back(std::move(operation));
  return uint32_t(operations_.size() - 1);
}

void ValueReader::readName(Cursor& line) {
  line.expect("let");
  const Token& sign = line.expect("%");
  int64_t name = line.whole("the number of an operation");
  if (names_.contains(name))
    refuseAt(sign, fmt::format("there is an operation `%{}` already", name));
  line.expect("=");
  uint32_t made = value(line, 1, 0);
  line.end();
  names_.emplace(name, made);
}

Statement ValueReader::readStatement(Cursor& line) {
  Statement statement;
  do
    statement.stores.push_back(target(line));
  while (line.takeIf(","));
  if (!line.is("=")) {
    const Token& word = line.take();
    statement.combiner = combinerOf(word.text);
    if (!statement.combiner)
      refuseAt(word, "expected `=`, or what joins values and `=`, as in `+=` and `max=`");
  }
  line.expect("=");
  for (size_t i = 0; i < statement.stores.size(); ++i) {
    if (i > 0)
      line.expect(",");
    statement.stores[i].value = value(line, 1, 0);
  }
  if (line.takeIf("over"))
    do
      statement.reduced.push_back(reduced(line));
    while (line.takeIf(","));
  line.end();
  statement.operations = std::move(operations_);
  return statement;
}

Store ValueReader::target(Cursor& line) {
  Store store{bufferAt(line.word("the buffer that is written")), {}, 0};
  line.expect("[");
  while (!line.is("]")) {
    store.position.push_back(readForm(line, nest_.table, scope_));
    if (!line.takeIf(","))
      break;
  }
  line.expect("]");
  return store;
}

Reduced ValueReader::reduced(Cursor& line) {
  Reduced axis;
  axis.position = readForm(line, nest_.table, scope_);
  line.expect(":");
  axis.extent = readForm(line, nest_.table, scope_);
  return axis;
}

uint32_t ValueReader::bufferAt(const Token& word) const {
  auto buffer = findBuffer(nest_, word.text);
  if (!buffer)
    refuseAt(word, fmt::format("there is no buffer `{}`", word.text));
  if (nest_.buffers[*buffer].space == Space::Scratch &&
      std::ranges::find(visible_, *buffer) == visible_.end())
    refuseAt(word, fmt::format("`{}` is allocated in another body", word.text));
  return *buffer;
}

uint32_t ValueReader::value(Cursor& line, int strength, size_t depth) {
  if (depth > deepest)
    refuseAt(line.peek(), "this is nested too deep to read; give parts of it a name with `let`");
  uint32_t left = operand(line, depth);
  while (int own = strengthOf(line.peek())) {
    if (own < strength)
      break;
    const Token& sign = line.take();
    uint32_t right = value(line, own + 1, depth + 1);
    left = apply(sign, *functionOf(sign.text), {left, right}, std::nullopt);
  }
  return left;
}

uint32_t ValueReader::operand(Cursor& line, size_t depth) {
  if (line.is("("))
    return inParentheses(line, depth);
  if (line.takeIf("[")) {
    Form form = readForm(line, nest_.table, scope_);
    line.expect("]");
    return add({.kind = OperationKind::Position, .dtype = runtime::Int64, .position = form});
  }
  return line.is("%") ? reference(line) : named(line, depth);
}

uint32_t ValueReader::reference(Cursor& line) {
  const Token& sign = line.expect("%");
  int64_t name = line.whole("the number of an operation");
  auto found = names_.find(name);
  if (found == names_.end())
    refuseAt(sign, fmt::format("there is no operation `%{}` in front of this", name));
  return found->second;
}

uint32_t ValueReader::inParentheses(Cursor& line, size_t depth) {
  line.expect("(");
  uint32_t made = value(line, 1, depth + 1);
  line.expect(")");
  return made;
}

uint32_t ValueReader::named(Cursor& line, size_t depth) {
  const Token& word = line.word("a value");
  if (auto dtype = runtime::parseDType(word.text); dtype && line.is("("))
    return ofType(line, *dtype, depth);
  return line.is("[") ? load(line, word, depth) : applied(line, word, depth);
}

/// A number, or a value as another type.
uint32_t ValueReader::ofType(Cursor& line, DType dtype, size_t depth) {
  line.expect("(");
  bool isNegative = line.is("-") && line.peekSecond().kind != TokenKind::Sign;
  const Token& first = isNegative ? line.peekSecond() : line.peek();
  bool isNumber = first.kind == TokenKind::Number || first.text == "inf" || first.text == "nan";
  if (!isNumber) {
    uint32_t operand = value(line, 1, depth + 1);
    line.expect(")");
    return add({.kind = OperationKind::Cast, .dtype = dtype, .operands = {operand}});
  }
  if (isNegative)
    line.take();
  std::string text = (isNegative ? "-" : "") + std::string(first.text);
  const char* end = text.data() + text.size();
  Operation number{.kind = OperationKind::Number, .dtype = dtype};
  auto read = dtype.isFloat() ? std::from_chars(text.data(), end, number.real)
                              : std::from_chars(text.data(), end, number.integer);
  if (read.ec != std::errc{} || read.ptr != end)
    refuseAt(first, fmt::format("`{}` is no number of type {}", text, runtime::dtypeName(dtype)));
  line.take();
  line.expect(")");
  return add(std::move(number));
}

uint32_t ValueReader::applied(Cursor& line, const Token& word, size_t depth) {
  auto function = functionOf(word.text);
  if (!function)
    refuseAt(word,
             fmt::format("there is no function and no buffer `{}` that is read here", word.text));
  std::optional<DType> dtype;
  if (line.takeIf("<")) {
    const Token& type = line.word("an element type");
    dtype = runtime::parseDType(type.text);
    if (!dtype)
      refuseAt(type, fmt::format("`{}` is no element type", type.text));
    line.expect(">");
  }
  line.expect("(");
  std::vector<uint32_t> operands;
  do
    operands.push_back(value(line, 1, depth + 1));
  while (line.takeIf(","));
  line.expect(")");
  return apply(word, *function, std::move(operands), dtype);
}

uint32_t ValueReader::apply(const Token& at, ScalarFunction function,
                            std::vector<uint32_t> operands, std::optional<DType> dtype) {
  size_t arity = runtime::scalarFunctionArity(function);
  if (operands.size() != arity)
    refuseAt(at, fmt::format("`{}` takes {} operands, but here it has {}", at.text, arity,
                             operands.size()));
  if (!dtype)
    dtype = resultTypeOf(function, operations_[operands.back()].dtype);
  return add({.kind = OperationKind::Apply,
              .dtype = *dtype,
              .function = function,
              .operands = std::move(operands)});
}

uint32_t ValueReader::load(Cursor& line, const Token& word, size_t depth) {
  uint32_t buffer = bufferAt(word);
  Operation load{
      .kind = OperationKind::Load, .dtype = nest_.buffers[buffer].dtype, .buffer = buffer};
  line.expect("[");
  while (!line.is("]") && !line.is("else")) {
    load.places.push_back(place(line, depth));
    if (!line.takeIf(","))
      break;
  }
  if (line.takeIf("else"))
    load.operands = {value(line, 1, depth + 1)};
  line.expect("]");
  return add(std::move(load));
}

Place ValueReader::place(Cursor& line, size_t depth) {
  Place place;
  place.isChecked = line.takeIf("check");
  if (line.is("at") && line.peekSecond().text == "(") {
    line.take();
    line.expect("(");
    place.value = value(line, 1, depth + 1);
    line.expect(")");
  } else {
    place.form = readForm(line, nest_.table, scope_);
  }
  return place;
}

} // namespace loops
