// Values from text, for tensor functions and for the statements of loop nests. Operators bind as
// usual, the strongest first; `%3` is an operation that a line in front of this one gave a name.
//
// A Maker makes them: it has a type `Value`, `typeOf(value)`, `number(dtype, NumberText)`,
// `cast(dtype, value)`, `apply(dtype, function, values)`, `named(number)`, which is a pointer or
// null, and `own(line, depth)`, which reads the operands that nobody else has, or gives nothing.
#pragma once

#include "lower/tensor/words.h"
#include "lower/text/tokens.h"

#include <fmt/format.h>

namespace tensor {

/// How deep a line may be nested, so that recursion is bounded.
inline constexpr size_t deepestValue = 64;

template <typename Maker>
typename Maker::Value readValue(Maker& maker, text::Cursor& line, int strength = 1,
                                size_t depth = 0);

/// `<float32>`, if it stands here.
std::optional<runtime::DType> readTypeArgument(text::Cursor& line);

/// Whether a number stands behind a type; it may have a sign, and be `inf` or `nan`.
bool isAtNumber(const text::Cursor& line);
NumberText readNumber(text::Cursor& line, runtime::DType dtype);

/// What stands behind `%`.
template <typename Maker>
typename Maker::Value readNamed(Maker& maker, text::Cursor& line) {
  const text::Token& sign = line.expect("%");
  int64_t name = line.whole("the number of an operation");
  const auto* found = maker.named(name);
  if (!found)
    text::refuseAt(sign, fmt::format("there is no operation `%{}` in front of this", name));
  return *found;
}

/// A number, or a value as another type.
template <typename Maker>
typename Maker::Value readOfType(Maker& maker, text::Cursor& line, runtime::DType dtype,
                                 size_t depth) {
  line.expect("(");
  auto made = isAtNumber(line) ? maker.number(dtype, readNumber(line, dtype))
                               : maker.cast(dtype, readValue(maker, line, 1, depth + 1));
  line.expect(")");
  return made;
}

template <typename Maker>
typename Maker::Value applied(Maker& maker, const text::Token& at, ScalarFunction function,
                              std::vector<typename Maker::Value> operands,
                              std::optional<runtime::DType> dtype) {
  size_t arity = scalarFunctionArity(function);
  if (operands.size() != arity)
    text::refuseAt(at, fmt::format("`{}` takes {} operands, but here it has {}", at.text, arity,
                                   operands.size()));
  if (!dtype)
    dtype = resultTypeOf(function, maker.typeOf(operands.back()));
  return maker.apply(*dtype, function, std::move(operands));
}

template <typename Maker>
typename Maker::Value readApplied(Maker& maker, text::Cursor& line, size_t depth) {
  const text::Token& word = line.word("a value");
  auto function = functionOf(word.text);
  if (!function)
    text::refuseAt(word,
                   fmt::format("there is no function and nothing to read here that is called `{}`",
                               word.text));
  auto dtype = readTypeArgument(line);
  line.expect("(");
  std::vector<typename Maker::Value> operands;
  do
    operands.push_back(readValue(maker, line, 1, depth + 1));
  while (line.takeIf(","));
  line.expect(")");
  return applied(maker, word, *function, std::move(operands), dtype);
}

template <typename Maker>
typename Maker::Value readOperand(Maker& maker, text::Cursor& line, size_t depth) {
  if (line.is("%"))
    return readNamed(maker, line);
  if (line.takeIf("(")) {
    auto made = readValue(maker, line, 1, depth + 1);
    line.expect(")");
    return made;
  }
  if (auto own = maker.own(line, depth))
    return *own;
  if (line.peekSecond().text == "(")
    if (auto dtype = runtime::parseDType(line.peek().text)) {
      line.take();
      return readOfType(maker, line, *dtype, depth);
    }
  return readApplied(maker, line, depth);
}

template <typename Maker>
typename Maker::Value readValue(Maker& maker, text::Cursor& line, int strength, size_t depth) {
  if (depth > deepestValue)
    text::refuseAt(line.peek(),
                   "this is nested too deep to read; give parts of it a name with `let`");
  auto left = readOperand(maker, line, depth);
  for (int own = strengthOf(line.peek().text); own >= strength;
       own = strengthOf(line.peek().text)) {
    const text::Token& sign = line.take();
    auto right = readValue(maker, line, own + 1, depth + 1);
    left = applied(maker, sign, *functionOf(sign.text), {left, right}, std::nullopt);
  }
  return left;
}

} // namespace tensor
