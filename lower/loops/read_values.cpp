// Targets, loads, and what makes operations of values.
#include "lower/loops/read_values.h"

#include "lower/tensor/read_value.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

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
  uint32_t made = tensor::readValue(*this, line);
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
    statement.stores[i].value = tensor::readValue(*this, line);
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

uint32_t ValueReader::number(DType dtype, tensor::NumberText number) {
  return add({.kind = OperationKind::Number,
              .dtype = dtype,
              .real = number.real,
              .integer = number.integer});
}

uint32_t ValueReader::cast(DType dtype, uint32_t value) {
  return add({.kind = OperationKind::Cast, .dtype = dtype, .operands = {value}});
}

uint32_t ValueReader::apply(DType dtype, ScalarFunction function, std::vector<uint32_t> operands) {
  return add({.kind = OperationKind::Apply,
              .dtype = dtype,
              .function = function,
              .operands = std::move(operands)});
}

const uint32_t* ValueReader::named(int64_t name) const {
  auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

std::optional<uint32_t> ValueReader::own(Cursor& line, size_t depth) {
  if (line.takeIf("[")) {
    Form form = readForm(line, nest_.table, scope_);
    line.expect("]");
    return add({.kind = OperationKind::Position, .dtype = runtime::Int64, .position = form});
  }
  return line.peekSecond().text == "[" ? std::optional(load(line, depth)) : std::nullopt;
}

uint32_t ValueReader::load(Cursor& line, size_t depth) {
  uint32_t buffer = bufferAt(line.word("a buffer"));
  Operation load{
      .kind = OperationKind::Load, .dtype = nest_.buffers[buffer].dtype, .buffer = buffer};
  line.expect("[");
  while (!line.is("]") && !line.is("else")) {
    load.places.push_back(place(line, depth));
    if (!line.takeIf(","))
      break;
  }
  if (line.takeIf("else"))
    load.operands = {tensor::readValue(*this, line, 1, depth + 1)};
  line.expect("]");
  return add(std::move(load));
}

Place ValueReader::place(Cursor& line, size_t depth) {
  Place place;
  place.isChecked = line.takeIf("check");
  if (line.is("at") && line.peekSecond().text == "(") {
    line.take();
    line.expect("(");
    place.value = tensor::readValue(*this, line, 1, depth + 1);
    line.expect(")");
  } else {
    place.form = readForm(line, nest_.table, scope_);
  }
  return place;
}

} // namespace loops
