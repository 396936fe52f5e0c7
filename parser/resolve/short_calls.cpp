// What is left out is text that is parted here, as there is little of it.
#include "parser/resolve/short_calls.h"

#include "lang/op/op.h"
#include "lang/op/other_names.h"

#include <algorithm>
#include <charconv>

namespace parser {

namespace {

/// The element type of a literal that takes the one which its use asks for.
constexpr runtime::DType ofUse{runtime::DTypeCode::Int, 0};

class WholeCall {
public:
  WholeCall(ResolveContext& context, const surface::Call& call) : context_(context), call_(call) {}

  const surface::Call& build(std::string_view means) {
    while (!means.empty()) {
      size_t end = std::min(means.find(' '), means.size());
      add(means.substr(0, end));
      means.remove_prefix(std::min(end + 1, means.size()));
    }
    for (const surface::Attribute& attribute : call_.attributes)
      attributes_.push_back(attribute);
    runtime::Arena& arena = context_.module.arena;
    auto* whole = arena.make<surface::Call>(call_);
    whole->arguments = arena.copy(arguments_);
    whole->attributes = arena.copy(attributes_);
    return *whole;
  }

private:
  void add(std::string_view part) {
    size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      arguments_.push_back(value(part));
      return;
    }
    std::string_view name = part.substr(0, equals);
    auto isGiven = [&](const surface::Attribute& given) { return given.key.text == name; };
    if (std::ranges::any_of(call_.attributes, isGiven))
      return;
    surface::Attribute attribute{{name, call_.range}, {}};
    attribute.value.expr = value(part.substr(equals + 1));
    attribute.value.range = attribute.value.expr->range;
    attributes_.push_back(attribute);
  }

  const surface::Expr* value(std::string_view text) {
    if (text == "$")
      return call_.arguments[next_++];
    runtime::Arena& arena = context_.module.arena;
    surface::Expr base{surface::ExprKind::Name, 1, call_.range};
    if (text == "number")
      return arena.make<surface::Name>(base, std::string_view(holdsReal() ? "f32" : "i32"));
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.find('.') == std::string_view::npos) {
      base.kind = surface::ExprKind::IntLiteral;
      return arena.make<surface::IntLiteral>(base, ofUse, int64_t(number));
    }
    base.kind = surface::ExprKind::FloatLiteral;
    return arena.make<surface::FloatLiteral>(base, ofUse, number);
  }

  bool holdsReal() const {
    return std::ranges::any_of(call_.arguments, [](const surface::Expr* argument) {
      const auto* prefix = surface::tryAs<surface::Prefix>(argument);
      return (prefix ? prefix->operand : argument)->kind == surface::ExprKind::FloatLiteral;
    });
  }

  ResolveContext& context_;
  const surface::Call& call_;
  std::vector<const surface::Expr*> arguments_;
  std::vector<surface::Attribute> attributes_;
  size_t next_ = 0;
};

/// Whether a call may be right as it is.
bool isWhole(const lang::OperatorRow& row, const surface::Call& call) {
  auto isNamed = [&](std::string_view name) {
    return std::ranges::any_of(call.attributes,
                               [&](const auto& given) { return given.key.text == name; });
  };
  size_t operands = 0, attributes = 0;
  for (const lang::OperandRow& operand : row.operands)
    operands += isNamed(operand.name);
  if (call.arguments.size() + operands < row.operands.size())
    return false;
  size_t behind = call.arguments.size() + operands - row.operands.size();
  return std::ranges::all_of(row.attributes, [&](const lang::AttributeRow& attribute) {
    return attributes++ < behind || !attribute.defaultText.empty() || isNamed(attribute.name);
  });
}

} // namespace

const surface::Call& wholeCall(ResolveContext& context, const lang::OperatorRow& row,
                               const surface::Call& call) {
  std::string_view means = lang::shortCall(row.name, call.arguments.size());
  return means.empty() || isWhole(row, call) ? call : WholeCall(context, call).build(means);
}

} // namespace parser
