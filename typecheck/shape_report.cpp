// The origin of a value is found by following bindings back to what made it: names and blocks in
// between are passed over.
#include "typecheck/shape_report.h"

#include "lang/ir/open_marks.h"
#include "lang/op/op.h"

#include <algorithm>
#include <fmt/format.h>

namespace typecheck {

using lang::Expr;
using lang::Type;
using lang::Words;
using lang::words;

namespace {

constexpr size_t highestRank = 256;
constexpr size_t mostSteps = 100;

/// What a value came from in words, and the place.
struct Origin {
  Words text;
  lang::SourceRange range;
};

class OriginFinder {
public:
  explicit OriginFinder(Definitions definitions) : definitions_(definitions) {}

  /// The origin of an operand: `parameter `%x``, `from `nn.relu``, ``%y` from `nn.relu``.
  Origin of(const lang::Operand& operand) const {
    lang::Operand made = makerOf(operand);
    const auto* var = operand.value->as<lang::Var>();
    bool isNamed = var && !var->name.empty();
    Words name = isNamed ? lang::localName(var->name) : Words();
    if (const auto* source = made.value->as<lang::Var>())
      return {source == var || source->name.empty() ? variableText(*source)
              : isNamed ? words("`{}` = {}", name, variableText(*source))
                        : variableText(*source),
              source->range};
    Words text = makerText(*made.value);
    if (isNamed)
      return {words("`{}` from {}", name, text), made.range};
    return {made.value->kind == lang::ExprKind::Constant ? text : words("from {}", text),
            made.range};
  }

  /// The tuple expression that an operand stands for, or null.
  const lang::TupleExpr* tupleOf(const lang::Operand& operand) const {
    return makerOf(operand).value->as<lang::TupleExpr>();
  }

private:
  const Expr* definitionOf(const lang::Var& var) const {
    return var.number < definitions_.size() ? definitions_[var.number] : nullptr;
  }

  /// The expression that made a value; a variable that no binding defines stands for itself.
  lang::Operand makerOf(lang::Operand operand) const {
    for (size_t step = 0; step < mostSteps; ++step) {
      const auto* var = operand.value->as<lang::Var>();
      const Expr* value = var ? definitionOf(*var) : nullptr;
      if (value)
        operand = {value, value->range};
      else if (const auto* block = operand.value->as<lang::BlockExpr>())
        operand = block->block->result;
      else
        break;
    }
    return operand;
  }

  static Words variableText(const lang::Var& var) {
    if (var.name.empty())
      return "a value";
    std::string_view kind = var.origin == lang::VarOrigin::Parameter ? "parameter "
                            : var.origin == lang::VarOrigin::Pattern ? "pattern variable "
                            : var.origin == lang::VarOrigin::Free    ? "free variable "
                                                                     : "";
    return words("{}`{}`", kind, lang::localName(var.name));
  }

  /// The callee as the text writes it; an operator's infix spelling is shorter than its name.
  static Words calleeText(const lang::Call& call) {
    const lang::Operand& callee = call.callee;
    if (const auto* op = callee.value->as<lang::OperatorRef>()) {
      const lang::OperatorRow& row = *op->row;
      size_t length = callee.range.end - callee.range.begin;
      bool isInfix = !row.infix.empty() && length == row.infix.size();
      bool isComputed = lang::isComputedMark(call) && !row.fixed.name.empty();
      return fmt::format("`{}`", isInfix ? row.infix : isComputed ? row.fixed.name : row.name);
    }
    if (const auto* global = callee.value->as<lang::Global>())
      return words("`{}`", lang::globalName(global->name));
    if (const auto* var = callee.value->as<lang::Var>(); var && !var->name.empty())
      return words("`{}`", lang::localName(var->name));
    return "a call";
  }

  Words makerText(const Expr& made) const {
    switch (made.kind) {
    case lang::ExprKind::Constant:
      return "a constant";
    case lang::ExprKind::Tuple:
      return "a tuple";
    case lang::ExprKind::If:
      return "an `if`";
    case lang::ExprKind::Match:
      return "a `match`";
    case lang::ExprKind::RefRead:
      return "a reference";
    case lang::ExprKind::Hole:
      return "a hole";
    case lang::ExprKind::Call:
      return calleeText(static_cast<const lang::Call&>(made));
    case lang::ExprKind::Project:
      return fieldText(static_cast<const lang::Project&>(made));
    default:
      return "an expression";
    }
  }

  /// `field 1 of `split``; a tuple that comes out of a further field is not followed.
  Words fieldText(const lang::Project& project) const {
    const auto* var = project.tuple.value->as<lang::Var>();
    if (var && !var->name.empty())
      return words("`{}.{}`", lang::localName(var->name), project.index);
    lang::Operand tuple = makerOf(project.tuple);
    if (tuple.value->kind == lang::ExprKind::Project)
      return fmt::format("field {} of a tuple", project.index);
    return words("field {} of {}", project.index, makerText(*tuple.value));
  }

  Definitions definitions_;
};

lang::ShapeRow rowOf(std::string name, const Type* tensor) {
  lang::ShapeRow row;
  row.name = std::move(name);
  for (const lang::Dim* dim : tensor->shape)
    row.dims.push_back(lang::dimText(dim));
  row.dtype = runtime::spelled(tensor->dtype);
  return row;
}

/// Collects the rows of a table.
class TableBuilder {
public:
  TableBuilder(const lang::RelationResult& result, Definitions definitions)
      : result_(result), finder_(definitions) {}

  void add(const std::string& name, size_t operand, const lang::Operand& place, const Type* type) {
    if (type->isTensor())
      return addRow(name, operand, {}, finder_.of(place), type);
    if (!type->isTuple())
      return;
    const lang::TupleExpr* tuple = finder_.tupleOf(place);
    Origin whole = finder_.of(place);
    for (size_t i = 0; i < type->parts.size(); ++i)
      if (type->parts[i]->isTensor() && isRoom(operand, i))
        addRow(fmt::format("{}.{}", name, i), operand, i,
               tuple && i < tuple->fields.size() ? finder_.of(tuple->fields[i]) : whole,
               type->parts[i]);
  }

  lang::ShapeTable take() {
    if (tooWide_)
      return {};
    return std::move(table_);
  }

private:
  std::vector<size_t> marksOf(size_t operand, std::optional<size_t> field) const {
    std::vector<size_t> marks;
    for (const lang::DimMark& mark : result_.marks)
      if (mark.operand == operand && mark.field == field)
        marks.push_back(mark.dim);
    return marks;
  }

  bool isRoom(size_t operand, size_t field) const {
    size_t most = marksOf(operand, field).empty() ? mostShapeRows / 2 : mostShapeRows;
    return table_.rows.size() < most;
  }

  void addRow(std::string name, size_t operand, std::optional<size_t> field, Origin origin,
              const Type* type) {
    tooWide_ |= type->shape.size() > highestRank;
    if (tooWide_)
      return;
    lang::ShapeRow row = rowOf(std::move(name), type);
    row.marks = marksOf(operand, field);
    row.origin = std::move(origin.text);
    row.originRange = origin.range;
    table_.rows.push_back(std::move(row));
  }

  const lang::RelationResult& result_;
  OriginFinder finder_;
  lang::ShapeTable table_;
  bool tooWide_ = false;
};

/// True when marks of two rows are equally far from the back but not from the front.
bool clashFromBack(const lang::ShapeTable& table) {
  const lang::ShapeRow* first = nullptr;
  for (const lang::ShapeRow& row : table.rows) {
    if (row.marks.empty())
      continue;
    if (!first)
      first = &row;
    else if (row.marks[0] != first->marks[0] &&
             row.dims.size() - row.marks[0] == first->dims.size() - first->marks[0])
      return true;
  }
  return false;
}

} // namespace

bool isShown(const lang::RelationResult& result, size_t operand, size_t count) {
  bool isMarked = false, isClash = false;
  for (const lang::DimMark& mark : result.marks) {
    isMarked |= mark.operand == operand;
    isClash |= mark.operand != result.marks[0].operand;
  }
  return count <= 2 || !isClash || isMarked;
}

lang::ShapeTable operandShapes(const lang::OperatorRow& row,
                               std::span<const lang::Operand* const> places, lang::Types operands,
                               const lang::RelationResult& result, Definitions definitions) {
  TableBuilder builder(result, definitions);
  for (size_t i = 0; i < operands.size(); ++i)
    if (isShown(result, i, operands.size()))
      builder.add(std::string(row.operand(i).name), i, *places[i], operands[i]);
  lang::ShapeTable table = builder.take();
  table.fromBack = !row.infix.empty() || clashFromBack(table);
  return table;
}

void showMismatch(lang::Diagnostic& report, const Type* expected, const Type* found) {
  size_t rank = expected->shape.size();
  if (!expected->isTensor() || !found->isTensor() || rank != found->shape.size() ||
      rank > highestRank)
    return;
  lang::ShapeRow wanted = rowOf("expected", expected), given = rowOf("found", found);
  for (size_t i = 0; i < rank; ++i)
    if (lang::matchDims(expected->shape[i], found->shape[i]) == lang::DimMatch::Different)
      given.marks.push_back(i);
  wanted.marks = given.marks;
  if (!given.marks.empty())
    report.shapes.rows = {std::move(wanted), std::move(given)};
}

} // namespace typecheck
