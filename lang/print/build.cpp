// The text of each kind of expression. Operands are finished when these functions run; bodies are
// only scheduled here.
#include "lang/op/op.h"
#include "lang/print/expr.h"
#include "lang/types/repaired_names.h"

#include "lang/print/literals.h"

namespace lang::printing {

namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts) {
    if (&part != parts.data())
      result += ", ";
    result += part;
  }
  return result;
}

} // namespace

std::string ExprPrinter::atomText(const Expr& atom) {
  const Expr& resolved = *vars_.resolve(&atom);
  switch (resolved.kind) {
  case ExprKind::Constant:
    return constantText(static_cast<const Constant&>(resolved));
  case ExprKind::Global:
    return names_.global(static_cast<const Global&>(resolved));
  case ExprKind::Operator:
    return std::string(static_cast<const OperatorRef&>(resolved).row->name);
  case ExprKind::Constructor:
    return bareName(static_cast<const Constructor&>(resolved).name);
  case ExprKind::Hole:
    return "_";
  default:
    break;
  }
  const Var& var = static_cast<const Var&>(resolved);
  if (vars_[var].text)
    emitLine(var);
  else
    emitHomes(var);
  if (vars_[var].name.empty() && !scopes_.empty()) {
    std::string binder = binderText(var);
    scopes_.back().chars += "free_var " + binder + ";\n";
  }
  return vars_[var].name;
}

std::string ExprPrinter::constantText(const Constant& constant) {
  auto literal = constantLiteral(constant, mostInLiteral_);
  return (literal ? *literal : metadata_.constant(constant)) + comment(constant.type);
}

/// ` /* ty=T */`, when comments are wanted and the type is known.
std::string ExprPrinter::comment(const Type* type) {
  if (!typing_ || !facts_.isShown(type))
    return "";
  return " /* ty=" + typeText(type) + " */";
}

/// The inferred type behind `before`, else the written one, of which `_` may be a part; else
/// nothing.
std::string ExprPrinter::annotationText(const Type* inferred, const Type* written,
                                        std::string_view before) {
  const Type* type = facts_.isShown(inferred) ? inferred : written;
  if (!type || type->isUnknown() || type->isError())
    return "";
  return std::string(before) + typeText(type);
}

/// Names a variable where it is bound: `%x {virtual_device=...}: T /* ty=T */`.
std::string ExprPrinter::binderText(const Var& var) {
  PrintedVar& printed = vars_[var];
  if (printed.name.empty())
    printed.name = names_.local(var.name);
  std::string result = printed.name;
  if (var.device)
    result += " {virtual_device=" + attributes_.value(*var.device) + "}";
  return result + annotationText(typeOf(var), var.annotation, ": ") + comment(typeOf(var));
}

/// `[A, B]`, or nothing.
std::string ExprPrinter::genericsText(const Function& function) const {
  std::vector<std::string> names;
  for (const TypeParameter* generic : typing_ ? typing_->generics(function) : function.generics)
    names.push_back(bareName(generic->name));
  return names.empty() ? "" : "[" + joined(names) + "]";
}

/// Generics, parameters, attributes and result of a function.
std::string ExprPrinter::signatureText(const Function& function) {
  std::vector<std::string> items;
  for (const Var* parameter : function.parameters)
    items.push_back(binderText(*parameter));
  for (std::string& attribute : attributes_.named(function.attributes))
    items.push_back(std::move(attribute));
  return genericsText(function) + "(" + joined(items) + ")" +
         annotationText(resultOf(function), function.resultAnnotation, " -> ");
}

/// The comment behind a function literal, when all of its type is known.
std::string ExprPrinter::functionTypeText(const Function& function) {
  std::vector<std::string> parameters;
  for (const Var* parameter : function.parameters) {
    if (!facts_.isShown(typeOf(*parameter)))
      return "";
    parameters.push_back(typeText(typeOf(*parameter)));
  }
  if (!facts_.isShown(resultOf(function)))
    return "";
  return " /* ty=fn " + genericsText(function) + "(" + joined(parameters) + ") -> " +
         typeText(resultOf(function)) + " */";
}

void ExprPrinter::build(const Expr& expr, const Type* type) {
  match(
      expr, [&](const Expr& atom) { top() += atomText(atom); },
      [&](const TupleExpr& tuple) { buildTuple(tuple, type); },
      [&](const Project& project) {
        top() += atomText(*project.tuple.value) + "." + std::to_string(project.index);
        top() += comment(type);
      },
      [&](const Call& call) { buildCall(call, type); },
      [&](const If& branch) {
        top() += "if (" + atomText(*branch.condition.value) + ") {";
        pushBody(*branch.elseBlock, "}");
        pushBody(*branch.thenBlock, "} else {");
      },
      [&](const Match& match) {
        top() += match.isPartial ? "match? (" : "match (";
        top() += atomText(*match.scrutinee.value) + ") {";
        texts_.emplace_back();
        push({.step = Step::Arm, .expr = &match});
      },
      [&](const Function& function) {
        top() += "fn " + signatureText(function) + " {";
        push({.step = Step::EndFunction, .expr = &function});
        pushBody(*function.body, "");
      },
      [&](const RefNew& ref) { top() += "ref(" + atomText(*ref.content.value) + ")"; },
      [&](const RefRead& ref) { top() += "ref_read(" + atomText(*ref.reference.value) + ")"; },
      [&](const RefWrite& ref) {
        std::string reference = atomText(*ref.reference.value);
        top() += "ref_write(" + reference + ", " + atomText(*ref.value.value) + ")";
      },
      [&](const BlockExpr& block) { buildBlock(block); });
}

void ExprPrinter::buildTuple(const TupleExpr& tuple, const Type* type) {
  top() += '(';
  for (const Operand& field : tuple.fields) {
    if (&field != tuple.fields.data())
      top() += ", ";
    top() += atomText(*field.value);
  }
  top() += tuple.fields.size() == 1 ? ",)" : ")";
  top() += comment(type);
}

std::vector<std::string> ExprPrinter::callAttributes(const Call& call) {
  const auto* op = call.callee.value->as<OperatorRef>();
  if (op && call.attributes)
    return attributes_.ofOperator(*op->row, *call.attributes, operators_.defaults(op->row));
  return attributes_.named(call.named);
}

/// Arguments are needed first, then what the attributes refer to, and the callee last.
void ExprPrinter::buildCall(const Call& call, const Type* type) {
  std::vector<std::string> items;
  for (const Operand& argument : call.arguments)
    items.push_back(atomText(*argument.value));
  for (std::string& attribute : callAttributes(call))
    items.push_back(std::move(attribute));
  const auto* constructor = call.callee.value->as<Constructor>();
  bool isBare = constructor && constructor->fields.empty() && items.empty();
  top() += atomText(*call.callee.value);
  if (!isBare)
    top() += "(" + joined(items) + ")";
  top() += comment(type);
}

/// A block in parentheses. As in Relay, what the value of its first let needs goes outside.
void ExprPrinter::buildBlock(const BlockExpr& expr) {
  const Block& block = *expr.block;
  size_t first = 0;
  while (first < block.bindings.size() && !block.bindings[first].isLet())
    ++first;
  bool hasLet = first < block.bindings.size();
  top() += '(';
  push({.step = Step::Write, .text = ")"});
  push({.step = Step::Close});
  push({.step = Step::Bindings, .block = &block, .index = hasLet ? first + 1 : 0});
  push({.step = hasLet ? Step::EndFirstLet : Step::Open});
  if (hasLet)
    beginLet(block.bindings[first]);
}

void ExprPrinter::appendPattern(std::string& out, const Pattern& pattern) {
  switch (pattern.kind) {
  case PatternKind::Wildcard:
    out += '_';
    return;
  case PatternKind::Var:
    out += binderText(*pattern.var);
    return;
  case PatternKind::Constructor:
    out += bareName(pattern.constructor->name);
    if (pattern.parts.empty())
      return;
    break;
  case PatternKind::Tuple:
    break;
  }
  out += '(';
  for (const Pattern* const& part : pattern.parts) {
    if (&part != pattern.parts.data())
      out += ", ";
    appendPattern(out, *part);
  }
  out += ')';
}

} // namespace lang::printing
