// Rules of one's own, asked in the place of derivatives.
#include "transform/differentiate/custom_rules.h"

#include "lang/ir/differentiable.h"
#include "lang/op/op.h"
#include "transform/differentiate/carried_values.h"
#include "transform/differentiate/pending_derivatives.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

std::vector<size_t> differentiatedBy(const Attributes& attributes, const Type& function) {
  std::vector<size_t> found;
  std::vector<int64_t> left = attributes.integers("nondiff");
  auto count = int64_t(function.parts.size());
  for (int64_t i = 0; i < count; ++i) {
    bool isLeft =
        std::ranges::any_of(left, [&](int64_t each) { return each == i || each == i - count; });
    if (!isLeft && holdsFloats(function.parts[size_t(i)]))
      found.push_back(size_t(i));
  }
  return found;
}

} // namespace

/// A function that carries its derivative, without that; null where it takes or gives functions.
/// What it captures is no matter where nothing is differentiated: else what varies of it would be
/// lost without a word.
Atom CustomRules::valueOnly(const Expr& function, BlockBuilder& out) {
  const Type* type = code_.typeOf(function);
  if (std::ranges::any_of(type->parts, holdsFunctions) || holdsFunctions(type->result))
    return nullptr;
  return valueAlone(code_, Mode::Reverse, code_.mapped(function), *type, out);
}

/// A function of the old code as it was.
Atom CustomRules::known(const Expr& function, SourceRange range, BlockBuilder& out) {
  Atom plain = code_.plain(function, out);
  if (!plain && isCarrying_ && *isCarrying_)
    plain = valueOnly(function, out);
  if (!plain)
    code_.failOf(range, function);
  return plain ? plain : &function;
}

const CustomRule& CustomRules::add(const Var& var, const Call& call, BlockBuilder& out) {
  const Expr& differentiated = *call.arguments[0].value;
  const Type* type = code_.typing.of(var);
  const Type* ruleType = code_.typeOf(*call.arguments[1].value);
  const OperatorRow* row = code_.rowOf(call);
  bool takesValue =
      row->derivative == Derivative::Custom && ruleType->parts.size() == type->parts.size() + 2;
  Atom rule = known(*call.arguments[1].value, call.range, out);
  Atom function = &var;
  if (code_.isKnown(var)) {
    Call* made = code_.make.arena.make<Call>(call);
    made->arguments = code_.make.operands({known(differentiated, call.range, out), rule});
    function = out.bind(made);
  } else {
    function = known(var, call.range, out);
  }
  return known_[&var] = {&call,
                         row,
                         function,
                         rule,
                         code_.originOf(differentiated).captured,
                         type,
                         differentiatedBy(code_.attributesOf(call), *type),
                         takesValue};
}

const CustomRule* CustomRules::find(const Expr& callee, BlockBuilder& out) {
  if (auto found = known_.find(&callee); found != known_.end())
    return &found->second;
  const Call* call = code_.ruleOf(callee);
  const auto* var = callee.as<Var>();
  if (!call || code_.isKnown(*var) || code_.rowOf(*call)->derivative == Derivative::Checkpoint)
    return nullptr;
  return &add(*var, *call, out);
}

std::vector<Atom> CustomRules::arguments(const Call& call, BlockBuilder& out) {
  std::vector<Atom> given;
  for (const Operand& argument : call.arguments)
    given.push_back(known(*argument.value, call.range, out));
  return given;
}

std::vector<const Var*> CustomRules::parameters(const CustomRule& rule) {
  std::vector<const Var*> made;
  for (const Type* each : rule.type->parts) {
    if (holdsFunctions(each))
      code_.fail(rule.call->range, "a function that takes functions or references");
    made.push_back(code_.make.var(VarOrigin::Parameter, "x", each));
  }
  return made;
}

void CustomRules::checkCapture(const CustomRule& rule, const Var& captured, SourceRange range) {
  const Type* type = code_.typing.of(captured);
  bool isCell = type->kind == TypeKind::Reference && holdsFloats(type->parts[0]);
  if (!code_.isVaried(captured) || (!isCell && !holdsFloats(type)))
    return;
  Words name = captured.name.empty() ? "a value" : words("`{}`", localName(captured.name));
  code_.findings.report(
      Message::WithoutGradient, range, rule.row->name,
      words("its rule has derivatives for arguments alone, and the function captures {}, "
            "which varies; make it an argument",
            name));
}

void CustomRules::checkCaptures(const CustomRule& rule) {
  for (const Var* captured : rule.captured)
    checkCapture(rule, *captured, rule.call->range);
}

void CustomRules::checkArguments(const CustomRule& rule, const Call& call) {
  for (const Operand& argument : call.arguments)
    if (holdsFunctions(code_.typeOf(*argument.value)))
      for (const Var* captured : code_.originOf(*argument.value).captured)
        checkCapture(rule, *captured, argument.range);
}

/// The transpose of the rule as a function of its last arguments.
Atom CustomRules::transposed(const CustomRule& rule, const std::vector<Atom>& arguments,
                             const std::vector<const Type*>& linear, BlockBuilder& out) {
  Builder& make = code_.make;
  BlockBuilder body(make);
  std::vector<const Var*> parameters;
  std::vector<Atom> all = arguments;
  std::vector<int64_t> wrt;
  for (const Type* type : linear) {
    wrt.push_back(int64_t(parameters.size()));
    parameters.push_back(make.var(VarOrigin::Parameter, "d", type));
    all.push_back(parameters.back());
  }
  Atom literal = out.bind(make.function(parameters, body.finish(body.call(rule.rule, all))));
  Setting which = wrt.size() == 1 ? Setting("wrt", 0) : Setting("wrt", wrt);
  return out.call(rowOf(make.operators, Derivative::Transpose), {literal}, {which});
}

std::vector<Atom> CustomRules::cotangents(const CustomRule& rule, std::vector<Atom> arguments,
                                          Atom value, Atom incoming, BlockBuilder& out) {
  Atom callee = rule.rule;
  if (rule.takesValue)
    arguments.push_back(value);
  if (rule.row->derivative == Derivative::CustomTangent) {
    std::vector<const Type*> linear;
    std::vector<Atom> forms;
    for (size_t i : rule.differentiated) {
      linear.push_back(rule.type->parts[i]);
      forms.push_back(arguments[i]);
    }
    callee = transposed(rule, arguments, linear, out);
    arguments = forms;
  }
  arguments.push_back(incoming);
  Atom gone = out.let("g", code_.make.call(callee, arguments));
  if (rule.differentiated.size() == 1)
    return {gone};
  std::vector<Atom> parts;
  for (uint32_t i = 0; i < rule.differentiated.size(); ++i)
    parts.push_back(out.project(gone, i));
  return parts;
}

Atom CustomRules::tangent(const CustomRule& rule, std::vector<Atom> arguments, Atom value,
                          const std::vector<Atom>& tangents, BlockBuilder& out) {
  if (rule.row->derivative == Derivative::CustomTangent) {
    arguments.insert(arguments.end(), tangents.begin(), tangents.end());
    return out.let("t", code_.make.call(rule.rule, arguments));
  }
  if (rule.takesValue)
    arguments.push_back(value);
  Atom callee = transposed(rule, arguments, {rule.type->result}, out);
  Atom given = tangents.size() == 1 ? tangents[0] : out.tuple(tangents);
  return out.let("t", code_.make.call(callee, {value, given}));
}

} // namespace transform
