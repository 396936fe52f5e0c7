// Expressions.
#include "parser/baton/writer.h"
#include "runtime/short_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace parser::baton {

using namespace surface;

namespace {

struct InfixForm {
  std::string_view symbol;
  Binding binding;
};

/// In the order of InfixOp.
constexpr InfixForm infixForms[] = {
    {"*", Binding::Product},     {"/", Binding::Product},     {"+", Binding::Sum},
    {"-", Binding::Sum},         {"<", Binding::Comparison},  {"<=", Binding::Comparison},
    {">", Binding::Comparison},  {">=", Binding::Comparison}, {"==", Binding::Comparison},
    {"!=", Binding::Comparison}, {"%", Binding::Product},     {"@", Binding::Product},
    {"**", Binding::Power},      {"&&", Binding::And},        {"||", Binding::Or},
    {"|>", Binding::Pipe}};

const InfixForm& formOf(const Infix& infix) {
  return infixForms[size_t(infix.op)];
}

Binding tighter(Binding binding) {
  return Binding(uint8_t(binding) + 1);
}

/// What the left side must be at least.
Binding leftOf(Binding binding) {
  bool groupsLeft = binding != Binding::Comparison && binding != Binding::Power;
  return groupsLeft ? binding : tighter(binding);
}

Binding rightOf(Binding binding) {
  return binding == Binding::Power ? binding : tighter(binding);
}

bool isUnsigned(const IntLiteral& integer) {
  return integer.dtype.bits > 0 && !integer.dtype.isSigned();
}

bool isNegative(const Expr* literal) {
  if (const auto* integer = tryAs<IntLiteral>(literal))
    return integer->value < 0 && !isUnsigned(*integer);
  const auto* real = tryAs<FloatLiteral>(literal);
  return real && std::signbit(real->value);
}

Binding bindingOf(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Infix:
    return formOf(as<Infix>(expr)).binding;
  case ExprKind::Prefix:
    return Binding::Prefix;
  case ExprKind::IntLiteral:
  case ExprKind::FloatLiteral:
    return isNegative(expr) ? Binding::Prefix : Binding::Primary;
  case ExprKind::FunctionLiteral: {
    const Expr* body = as<FunctionLiteral>(expr).function->body;
    return body->kind == ExprKind::Sequence ? Binding::Pipe : Binding::Lambda;
  }
  case ExprKind::If:
  case ExprKind::Match:
  case ExprKind::Sequence:
    return Binding::Pipe;
  case ExprKind::Project:
  case ExprKind::Field:
  case ExprKind::Index:
  case ExprKind::With:
  case ExprKind::Call:
    return Binding::Postfix;
  default:
    return Binding::Primary;
  }
}

/// The digits that give a number back, with a point or an exponent.
std::string realDigits(double value, runtime::DType dtype) {
  char buffer[64];
  bool isShort = dtype.bits > 0 && dtype.bits < 64;
  auto written = isShort ? std::to_chars(buffer, std::end(buffer), float(value))
                         : std::to_chars(buffer, std::end(buffer), value);
  std::string digits(buffer, written.ptr);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

} // namespace

std::string literalText(const Expr& literal) {
  if (const auto* boolean = tryAs<BoolLiteral>(&literal))
    return boolean->value ? "true" : "false";
  if (const auto* integer = tryAs<IntLiteral>(&literal))
    return isUnsigned(*integer)
               ? fmt::format("{}{}", uint64_t(integer->value),
                             runtime::shortDTypeName(integer->dtype))
               : fmt::format("{}{}", integer->value,
                             integer->dtype.bits > 0 ? runtime::shortDTypeName(integer->dtype)
                                                     : "");
  const auto& real = as<FloatLiteral>(&literal);
  std::string suffix = real.dtype.bits > 0 ? runtime::shortDTypeName(real.dtype) : "";
  std::string sign = std::signbit(real.value) ? "-" : "";
  if (std::isnan(real.value))
    return sign + "nan" + suffix;
  if (std::isinf(real.value))
    return sign + "inf" + suffix;
  return sign + realDigits(std::fabs(real.value), real.dtype) + suffix;
}

std::string quotedText(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    constexpr std::pair<char, std::string_view> escapes[] = {
        {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
    auto escape = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
    unsigned char byte = static_cast<unsigned char>(c);
    if (escape != std::end(escapes))
      result += escape->second;
    else if (byte < 0x20 || byte > 0x7E)
      result += fmt::format("\\x{:02X}", byte);
    else
      result += c;
  }
  return result + '"';
}

void Writer::planExpr(const Expr* expr, Binding least) {
  if (bindingOf(expr) >= least)
    return planPlain(expr);
  text("(");
  plan(Step::Expr, expr);
  text(")");
}

void Writer::planPlain(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Infix:
    return chain(as<Infix>(expr));
  case ExprKind::Call:
    return call(as<Call>(expr));
  case ExprKind::Tuple:
    return tuple(as<Tuple>(expr));
  case ExprKind::TensorLiteral:
    return tensor(as<TensorLiteral>(expr));
  case ExprKind::Index:
    return index(as<Index>(expr));
  case ExprKind::With:
    return with(as<With>(expr));
  case ExprKind::FunctionLiteral:
    return lambda(*as<FunctionLiteral>(expr).function);
  case ExprKind::If:
    return branch(as<If>(expr));
  case ExprKind::Match:
    return match(as<Match>(expr));
  case ExprKind::Sequence:
    return block(expr);
  default:
    return planSmall(expr);
  }
}

void Writer::planSmall(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::IntLiteral:
  case ExprKind::FloatLiteral:
  case ExprKind::BoolLiteral:
    return text(literalText(*expr));
  case ExprKind::TextLiteral:
    return text(quotedText(as<TextLiteral>(expr).text));
  case ExprKind::Name:
    return text(nameText(as<Name>(expr).name));
  case ExprKind::Meta: {
    const MetaReference& meta = as<Meta>(expr).meta;
    return text(fmt::format("#{}[{}]", meta.key, meta.index));
  }
  case ExprKind::Placeholder:
    return text("_");
  case ExprKind::Project:
    this->expr(as<Project>(expr).operand, Binding::Postfix);
    return text(fmt::format(".{}", as<Project>(expr).index));
  case ExprKind::Field:
    this->expr(as<Field>(expr).operand, Binding::Postfix);
    return text("." + nameText(as<Field>(expr).name.text));
  case ExprKind::Prefix: {
    const auto& prefix = as<Prefix>(expr);
    text(prefix.op == PrefixOp::Negate ? "-" : "!");
    return this->expr(prefix.operand, Binding::Power);
  }
  default:
    return text("?");
  }
}

/// `a + b - c`. The left side goes on with it where it may.
void Writer::chain(const Infix& infix) {
  const InfixForm& form = formOf(infix);
  const auto* left = tryAs<Infix>(infix.left);
  if (left && form.binding != Binding::Power && form.binding != Binding::Comparison &&
      formOf(*left).binding == form.binding)
    plan(Step::Chain, left);
  else
    expr(infix.left, leftOf(form.binding));
  text(fmt::format(" {} ", form.symbol));
  expr(infix.right, infix.op == InfixOp::Pipe && infix.right->kind == ExprKind::FunctionLiteral
                        ? Binding::Lambda
                        : rightOf(form.binding));
}

void Writer::call(const Call& call) {
  struct Argument {
    const Identifier* name;
    const Expr* value;
  };
  std::vector<Argument> arguments;
  for (const Expr* argument : call.arguments)
    arguments.push_back({nullptr, argument});
  for (const Attribute& argument : call.attributes)
    arguments.push_back({&argument.key, argument.value.expr});
  expr(call.callee, Binding::Postfix);
  text("(");
  list(arguments, [&](const Argument& argument) {
    if (argument.name)
      text(nameText(argument.name->text) + " = ");
    expr(argument.value);
  });
  text(")");
}

void Writer::tensor(const TensorLiteral& literal) {
  text("[");
  list(literal.elements, [&](const Expr* element) { expr(element); });
  text("]");
}

void Writer::tuple(const Tuple& tuple) {
  text("(");
  list(tuple.fields, [&](const Expr* field) { expr(field); });
  text(tuple.fields.size() == 1 ? ",)" : ")");
}

void Writer::index(const Index& index) {
  expr(index.operand, Binding::Postfix);
  text("[");
  list(index.subscripts, [&](const Subscript& each) { subscript(each); });
  text("]");
}

void Writer::subscript(const Subscript& subscript) {
  if (subscript.kind == SubscriptKind::Rest)
    return text("..");
  if (subscript.begin)
    expr(subscript.begin);
  if (subscript.kind == SubscriptKind::At)
    return;
  text(":");
  if (subscript.end)
    expr(subscript.end);
  if (!subscript.step)
    return;
  text(":");
  expr(subscript.step);
}

void Writer::with(const With& with) {
  expr(with.operand, Binding::Postfix);
  attributes(with.fields);
}

/// `fn (x) = value`, or with a block where there are statements.
void Writer::lambda(const Function& function) {
  text("fn ");
  signature(function);
  if (function.body->kind == ExprKind::Sequence) {
    text(" ");
    return block(function.body);
  }
  text(" = ");
  expr(function.body);
}

void Writer::branch(const If& first) {
  for (const If* at = &first; at;) {
    text("if ");
    expr(at->condition, Binding::Pipe);
    text(" ");
    block(at->then);
    text(" else ");
    const auto* next = tryAs<If>(at->otherwise);
    if (!next)
      block(at->otherwise);
    at = next;
  }
}

void Writer::match(const Match& match) {
  text(match.isPartial ? "match? " : "match ");
  expr(match.scrutinee, Binding::Pipe);
  if (match.arms.empty())
    return text(" {}");
  text(" {\n");
  for (const Arm& arm : match.arms) {
    pattern(arm.pattern);
    if (arm.guard) {
      text(" if ");
      expr(arm.guard, Binding::Pipe);
    }
    text(" => ");
    expr(arm.body);
    text(", ");
  }
  text("}");
}

void Writer::block(const Expr* body, bool isBroken) {
  text(isBroken ? "{\n" : "{ ");
  plan(Step::Items, body);
  text(" }");
}

void Writer::items(const Expr* body) {
  const auto* sequence = tryAs<Sequence>(body);
  if (!sequence)
    return expr(body);
  for (const Item& each : sequence->items) {
    item(each);
    text(" ");
  }
  expr(sequence->result);
}

void Writer::item(const Item& item) {
  if (item.kind != ItemKind::Effect) {
    text(item.kind == ItemKind::Graph ? "lazy " : "let ");
    if (item.pattern)
      pattern(item.pattern);
    else
      text(nameText(item.name.text));
    if (item.type) {
      text(": ");
      type(item.type);
    }
    text(" = ");
  }
  expr(item.value);
  text(";");
}

} // namespace parser::baton
