// A compiler in one pass of as much C as runtime/scalar_functions.def is written in: declarations
// with a value, assignments, `if` without `else`, `for`, `return`, and expressions.
//
// What is beyond that is a mistake in the table, and thrown. It recurses as deep as the rows of the
// table nest. A variable is the value that it has at the place of the text that is compiled; where
// ways meet, a phi makes it one.
#include "tests/harness/scalar_llvm.h"

#include "tests/harness/llvm_text.h"
#include "tests/harness/scalar_spelling.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <utility>

namespace harness {

namespace {

using runtime::DType;
using Value = LlvmValue;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view wordCharacters =
    "0123456789._ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The text in C as words, numbers, operators and other single characters.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text_(text) { skipSpace(); }

  size_t position() const { return position_; }
  void moveTo(size_t position) { position_ = position; }
  bool atEnd() const { return position_ == text_.size(); }

  std::string_view peek() const {
    std::string_view rest = text_.substr(position_);
    if (size_t word = std::min(rest.find_first_not_of(wordCharacters), rest.size()))
      return rest.substr(0, word);
    return rest.substr(0, llvmOperator(rest.substr(0, 2)) ? 2 : 1);
  }
  std::string_view take() {
    std::string_view token = peek();
    position_ += token.size();
    skipSpace();
    return token;
  }
  bool takeIf(std::string_view token) {
    bool isThere = peek() == token;
    if (isThere)
      take();
    return isThere;
  }
  void demand(std::string_view token) {
    if (!takeIf(token))
      fail();
  }
  /// Goes behind the bracket that closes the one before this place.
  void closeBracket() {
    for (int depth = 1; depth > 0 && !atEnd();) {
      std::string_view token = take();
      depth += token == "(" ? 1 : token == ")" ? -1 : 0;
    }
  }
  [[noreturn]] void fail() const {
    throw std::logic_error(fmt::format("not the C of the table: `{}`", text_.substr(position_)));
  }

private:
  void skipSpace() { position_ = std::min(text_.find_first_not_of(' ', position_), text_.size()); }

  std::string_view text_;
  size_t position_ = 0;
};

struct Variable {
  std::string_view name;
  Value value;
};

/// The body of one function of elements. Bools are computed as uint8 and cut to their bit.
class Body {
public:
  Body(const ScalarSpelling& inC, DType element, LlvmText& to)
      : tokens_(inC.body), element_(element), T_(element.isBool() ? runtime::UInt8 : element),
        result_(inC.result == "bool" ? runtime::Bool : T_), to_(to) {}

  void compile(size_t arity) {
    to_.open("entry");
    for (std::string_view name : {"a", "b", "c"})
      if (variables_.size() < arity)
        variables_.push_back({name, to_.convert({element_, fmt::format("%{}", name)}, T_)});
    statement();
    if (!tokens_.atEnd() || !to_.block.empty())
      tokens_.fail();
  }

private:
  std::optional<DType> typeNamed(std::string_view name) const {
    const std::pair<std::string_view, DType> types[] = {
        {"T", T_},
        {"W", T_.bits == 64 ? runtime::UInt64 : runtime::UInt32},
        {"int", runtime::Int32},
        {"int64_t", runtime::Int64},
        {"uint64_t", runtime::UInt64}};
    for (auto [known, type] : types)
      if (name == known)
        return type;
    return std::nullopt;
  }

  size_t variableNamed(std::string_view name) const {
    for (size_t i = variables_.size(); i-- > 0;)
      if (variables_[i].name == name)
        return i;
    tokens_.fail();
  }

  // Statements.

  void statement() {
    if (tokens_.takeIf("{")) {
      size_t outer = variables_.size();
      while (!tokens_.takeIf("}"))
        statement();
      variables_.resize(outer);
    } else if (tokens_.takeIf("if")) {
      ifStatement();
    } else if (tokens_.takeIf("for")) {
      forStatement();
    } else if (tokens_.takeIf("return")) {
      Value value = to_.convert(expression(), result_);
      tokens_.demand(";");
      to_.giveBack(element_.isBool() && !result_.isBool() ? to_.cut(value, element_) : value);
    } else {
      assignment();
      tokens_.demand(";");
    }
  }

  /// A declaration, or a change of a variable.
  void assignment() {
    if (auto type = typeNamed(tokens_.peek())) {
      tokens_.take();
      std::string_view name = tokens_.take();
      tokens_.demand("=");
      variables_.push_back({name, to_.convert(expression(), *type)});
      return;
    }
    size_t i = variableNamed(tokens_.take());
    const LlvmOperator* op = llvmOperator(tokens_.peek());
    if (op)
      tokens_.take();
    tokens_.demand("=");
    Value value = expression(), old = variables_[i].value;
    variables_[i].value = to_.convert(op ? to_.apply(*op, old, value) : value, old.type);
  }

  void ifStatement() {
    tokens_.demand("(");
    Value condition = truth();
    tokens_.demand(")");
    std::string then = to_.newName(), end = to_.newName(), before = to_.block;
    to_.branch(condition, then, end);
    std::vector<Variable> old = variables_;
    to_.open(then);
    statement();
    std::string after = to_.block;
    if (!after.empty())
      to_.jump(end);
    to_.open(end);
    for (size_t i = 0; i < old.size(); ++i) {
      Value& value = variables_[i].value;
      if (after.empty())
        value = old[i].value;
      else if (value.text != old[i].value.text)
        value = to_.add(value.type, LlvmText::phi({old[i].value, before}, {value, after}));
    }
  }

  /// Every variable has a phi at the head, whether it changes or not; their text waits for the
  /// values that come from the end of the loop.
  void forStatement() {
    tokens_.demand("(");
    size_t outer = variables_.size();
    assignment();
    tokens_.demand(";");
    std::string head = to_.newName(), body = to_.newName(), end = to_.newName(), before = to_.block;
    to_.jump(head);
    std::vector<Variable> first = variables_;
    for (Variable& variable : variables_)
      variable.value.text = "%" + to_.newName();
    std::vector<Variable> atHead = variables_;
    std::string ahead = std::exchange(to_.text, "");
    to_.block = head;
    to_.branch(truth(), body, end);
    tokens_.demand(";");
    to_.open(body);
    size_t step = tokens_.position();
    tokens_.closeBracket();
    statement();
    size_t behind = tokens_.position();
    if (to_.block.empty())
      tokens_.fail();
    tokens_.moveTo(step);
    assignment();
    tokens_.moveTo(behind);
    to_.jump(head);

    ahead += head + ":\n";
    for (size_t i = 0; i < atHead.size(); ++i)
      ahead +=
          fmt::format("  {} = {}\n", atHead[i].value.text,
                      LlvmText::phi({first[i].value, before}, {variables_[i].value, to_.block}));
    to_.text = ahead + to_.text;
    to_.open(end);
    atHead.resize(outer);
    variables_ = std::move(atHead);
  }

  // Expressions.

  Value expression() {
    Value value = binary(1);
    if (!tokens_.takeIf("?"))
      return value;
    auto yes = [&] {
      Value chosen = expression();
      tokens_.demand(":");
      return chosen;
    };
    return choose(value, yes, [&] { return expression(); });
  }

  Value truth() { return to_.convert(expression(), runtime::Bool); }

  /// Operators that bind as tightly as `level`, or more so.
  Value binary(int level) {
    Value left = unary();
    for (;;) {
      const LlvmOperator* op = llvmOperator(tokens_.peek());
      if (!op || op->level < level)
        return left;
      tokens_.take();
      auto right = [&] { return binary(op->level + 1); };
      auto holds = [&] { return to_.convert(right(), runtime::Bool); };
      auto known = [&] { return Value{runtime::Bool, op->text == "||" ? "true" : "false"}; };
      if (op->text == "&&")
        left = choose(left, holds, known);
      else if (op->text == "||")
        left = choose(left, known, holds);
      else
        left = to_.apply(*op, left, right());
    }
  }

  /// The value of one of two expressions, each compiled by a call into blocks of its own. Their
  /// common type is known only when both are.
  Value choose(const Value& condition, auto&& yes, auto&& no) {
    struct Side {
      std::string text;
      LlvmText::Way way;
    };
    auto compiled = [&](const std::string& label, auto&& compile) {
      std::string before = std::exchange(to_.text, "");
      to_.open(label);
      Value value = compile();
      return Side{std::exchange(to_.text, before), {value, to_.block}};
    };
    std::string then = to_.newName(), otherwise = to_.newName(), end = to_.newName();
    to_.branch(to_.convert(condition, runtime::Bool), then, otherwise);
    Side left = compiled(then, yes), right = compiled(otherwise, no);
    DType type = left.way.value.type;
    if (type != right.way.value.type)
      type = commonType(type, right.way.value.type);
    for (Side* side : {&left, &right}) {
      to_.text += side->text;
      side->way.value = to_.convert(side->way.value, type);
      to_.jump(end);
    }
    to_.open(end);
    return to_.add(type, LlvmText::phi(left.way, right.way));
  }

  Value unary() {
    if (tokens_.takeIf("-"))
      return to_.negate(unary());
    if (tokens_.takeIf("~"))
      return to_.apply(*llvmOperator("^"), unary(), {runtime::Int32, "-1"});
    if (!tokens_.takeIf("("))
      return primary();
    auto type = typeNamed(tokens_.peek());
    if (type)
      tokens_.take();
    Value value = type ? Value{} : expression();
    tokens_.demand(")");
    return type ? to_.convert(unary(), *type) : value;
  }

  Value primary() {
    std::string_view token = tokens_.take();
    if (token.find_first_not_of(digits) == token.npos)
      return {runtime::Int32, std::string(token)};
    if (digits.find(token[0]) != digits.npos)
      return {runtime::Float64, std::string(token)};
    if (token == "true" || token == "false")
      return {runtime::Bool, std::string(token)};
    if (token == "IS_SIGNED")
      return {runtime::Bool, T_.isSigned() ? "true" : "false"};
    if (!tokens_.takeIf("("))
      return variables_[variableNamed(token)].value;
    if (token == "sizeof") {
      if (!tokens_.takeIf("T"))
        tokens_.fail();
      tokens_.demand(")");
      return {runtime::UInt64, std::to_string(T_.bytes())};
    }
    std::vector<Value> operands;
    do
      operands.push_back(expression());
    while (tokens_.takeIf(","));
    tokens_.demand(")");
    return to_.call(token, operands);
  }

  Tokens tokens_;
  DType element_, T_, result_;
  LlvmText& to_;
  std::vector<Variable> variables_;
};

} // namespace

LlvmFunction scalarFunctionInLlvm(tensor::ScalarFunction function, DType dtype) {
  ScalarSpelling inC = scalarFunctionInC(function, dtype.isFloat());
  if (inC.body.empty() || !dtype.isComputable() || (dtype.isFloat() && dtype.bits == 16))
    return {};
  size_t arity = tensor::scalarFunctionArity(function);
  LlvmText code;
  Body(inC, dtype, code).compile(arity);
  std::string operands;
  for (size_t i = 0; i < arity; ++i)
    operands += fmt::format("{}{} %{}", i == 0 ? "" : ", ", llvmType(dtype), "abc"[i]);
  // C takes the whole byte of a bool for its value.
  std::string result = inC.result == "bool" || dtype.isBool() ? "zeroext i1" : llvmType(dtype);
  return {fmt::format("define {} @{}_{}({}) {{\n{}}}\n", result,
                      tensor::scalarFunctionName(function), runtime::dtypeName(dtype), operands,
                      code.text),
          std::move(code.declarations)};
}

} // namespace harness
