// `x[i, 1:, ..]`: numpy's indexing by operators that read along one dimension. Positions behind
// `..` count dimensions from the back, so nothing here needs the rank.
#include "lang/ir/open_marks.h"
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/foreign_calls.h"

#include <algorithm>
#include <limits>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

class Indexing {
public:
  Indexing(ResolveContext& context, Use tensor, const surface::Index& index)
      : context_(context), value_(tensor), index_(index) {}

  Use build() {
    const auto& all = index_.subscripts;
    size_t positions = leadingPositions();
    if (positions > 1)
      point(positions);
    int64_t axis = 0;
    bool isBehindRest = false;
    for (size_t i = positions > 1 ? positions : 0; i < all.size(); ++i) {
      const surface::Subscript& subscript = all[i];
      if (subscript.kind == surface::SubscriptKind::Rest) {
        if (isBehindRest)
          context_.diagnostics.report(Message::RepeatedRest, subscript.range);
        isBehindRest = true;
        continue;
      }
      int64_t place = isBehindRest ? -1 - takenBehind(i) : axis;
      if (isNew(subscript))
        axis += newAxis(place);
      else if (subscript.kind == surface::SubscriptKind::At)
        at(subscript, place);
      else
        axis += slice(subscript, place);
    }
    return value_;
  }

private:
  /// How many positions stand in front of everything else.
  size_t leadingPositions() const {
    auto isOther = [&](const surface::Subscript& each) {
      return each.kind != surface::SubscriptKind::At || isNew(each);
    };
    auto found = std::ranges::find_if(index_.subscripts, isOther);
    return size_t(found - index_.subscripts.begin());
  }

  /// `x[None, :]`, where no local has that name.
  bool isNew(const surface::Subscript& subscript) const {
    const auto* name = subscript.kind == surface::SubscriptKind::At
                           ? surface::tryAs<surface::Name>(subscript.begin)
                           : nullptr;
    return name && name->name == "None" && !context_.locals.find(name->name);
  }

  /// How many dimensions of the tensor the subscripts behind one are about.
  int64_t takenBehind(size_t subscript) const {
    auto isOld = [&](const surface::Subscript& each) { return !isNew(each); };
    return std::ranges::count_if(index_.subscripts.subspan(subscript + 1), isOld);
  }

  struct NamedValue {
    std::string_view name;
    lang::AttributeValue value;
  };

  Use call(lang::Role role, std::vector<Use> operands, std::vector<NamedValue> settings) {
    const lang::OperatorRow& row = context_.environment.operators.withRole(role);
    return buildOperator(context_, row, index_.range, index_.range, std::move(operands),
                         [&](std::string_view name) -> const lang::AttributeValue* {
                           for (const NamedValue& each : settings)
                             if (each.name == name)
                               return &each.value;
                           return nullptr;
                         });
  }

  lang::AttributeValue one(int64_t value) {
    return lang::listAttribute(
        context_.module.arena.copy(std::vector{lang::intAttribute(value, 64)}));
  }

  /// `x[i]`, where a negative number counts from the back. Outside it is a fault.
  void at(const surface::Subscript& subscript, int64_t axis) {
    Use position = positionOf(subscript.begin, axis, true);
    value_ = call(lang::Role::Take, {value_, position},
                  {{"axis", lang::intAttribute(axis)}, {"mode", lang::stringAttribute("fast")}});
    if (subscript.begin->kind != surface::ExprKind::IntLiteral)
      mark(context_, *value_.node, lang::bracketsMark);
  }

  /// A dimension of extent 1 in front of the one at a place, or behind all where that counts from
  /// the back. Gives 1, which is how much further the next dimension is.
  int64_t newAxis(int64_t place) {
    value_ = call(lang::Role::NewAxis, {value_},
                  {{"axis", lang::intAttribute(place)}, {"num_newaxis", lang::intAttribute(1)}});
    return 1;
  }

  /// A position along a dimension. A number by itself would take the element type of the tensor.
  Use positionOf(const surface::Expr* expr, int64_t axis, bool isAlone) {
    const auto* number = surface::tryAs<surface::IntLiteral>(expr);
    if (number && number->value < 0)
      return fromBack(*number, axis);
    return number && isAlone ? integer(number->range, number->value) : buildExpr(context_, expr);
  }

  /// The extent of a dimension, less a number.
  Use fromBack(const surface::IntLiteral& number, int64_t axis) {
    const lang::OperatorRow* add = context_.environment.operators.findInfix("+");
    return buildOperator(context_, *add, number.range, number.range,
                         {extent(axis), integer(number.range, number.value)});
  }

  Use extent(int64_t axis) {
    return call(lang::Role::Extent, {value_},
                {{"axis", lang::intAttribute(axis)}, {"dtype", lang::stringAttribute("int64")}});
  }

  Use integer(SourceRange range, int64_t value) {
    return {scalarConstant(context_, range, runtime::Int64, uint64_t(value)), nullptr, range};
  }

  /// `x[a:b:c]`, clamped as numpy's. Gives 1, for the dimension stays.
  int64_t slice(const surface::Subscript& subscript, int64_t axis) {
    if (!isNumber(subscript.begin) || !isNumber(subscript.end)) {
      sliceBySizes(subscript, axis);
      return 1;
    }
    int64_t step = stepOf(subscript);
    constexpr int64_t far = std::numeric_limits<int32_t>::max();
    int64_t begin = bound(subscript.begin, step < 0 ? far : 0);
    int64_t end = bound(subscript.end, step < 0 ? -far : far);
    if (subscript.begin || subscript.end || step != 1)
      value_ = call(
          lang::Role::Slice, {value_},
          {{"begin", one(begin)}, {"end", one(end)}, {"strides", one(step)}, {"axes", one(axis)}});
    return 1;
  }

  /// A slice whose bounds are computed.
  void sliceBySizes(const surface::Subscript& subscript, int64_t axis) {
    int64_t step = stepOf(subscript);
    if (step < 0)
      context_.diagnostics.report(Message::OpenSlice, subscript.range);
    std::vector<Use> operands{value_, listOf(subscript.begin, axis, false),
                              listOf(subscript.end, axis, true)};
    Use by = integer(subscript.range, step);
    operands.push_back(stackOf(context_, {&by, 1}, subscript.range));
    const lang::OperatorTable& operators = context_.environment.operators;
    const lang::OperatorRow& slice = operators.withRole(lang::Role::Slice);
    lang::AttributeValue axes = one(axis);
    value_ = buildOperator(context_, *operators.computing(slice, "begin"), index_.range,
                           index_.range, std::move(operands),
                           [&](std::string_view name) { return name == "axes" ? &axes : nullptr; });
    value_ = bindSized(context_, value_.node);
  }

  /// A bound in a list of its own; the extent, or 0, for one that is left out.
  Use listOf(const surface::Expr* expr, int64_t axis, bool isEnd) {
    SourceRange range = expr ? expr->range : index_.range;
    const auto* number = expr ? surface::tryAs<surface::IntLiteral>(expr) : nullptr;
    Use bound = number && number->value < 0 ? fromBack(*number, axis)
                : expr                      ? buildCount(context_, expr)
                : isEnd                     ? extent(axis)
                                            : integer(range, 0);
    return stackOf(context_, {&bound, 1}, range);
  }

  static bool isNumber(const surface::Expr* expr) {
    return !expr || expr->kind == surface::ExprKind::IntLiteral;
  }

  int64_t stepOf(const surface::Subscript& subscript) {
    int64_t step = bound(subscript.step, 1);
    if (step == 0)
      context_.diagnostics.report(Message::StepOfZero, subscript.step->range);
    return step;
  }

  int64_t bound(const surface::Expr* expr, int64_t missing) {
    if (!expr)
      return missing;
    if (const auto* number = surface::tryAs<surface::IntLiteral>(expr))
      return number->value;
    context_.diagnostics.report(Message::OpenSlice, expr->range);
    return missing;
  }

  /// `x[i, j]`, one place along several dimensions.
  void point(size_t count) {
    auto isNumber = [](const surface::Subscript& subscript) {
      return subscript.begin->kind == surface::ExprKind::IntLiteral;
    };
    bool areNumbers = std::ranges::all_of(index_.subscripts.first(count), isNumber);
    std::vector<Use> positions;
    for (size_t i = 0; i < count; ++i)
      positions.push_back(positionOf(index_.subscripts[i].begin, int64_t(i), areNumbers));
    Use places = stackOf(context_, positions, index_.range);
    value_ = call(lang::Role::TakePoints, {value_, places}, {});
  }

  ResolveContext& context_;
  Use value_;
  const surface::Index& index_;
};

} // namespace

Use buildIndex(ResolveContext& context, Use tensor, const surface::Index& index) {
  for (size_t i = 0; i < index.subscripts.size(); ++i)
    if (reportNewDimension(context, index, i))
      return buildUnknown(context, index.range);
  if (const lang::FieldHint* hint = hintOfShape(context, index);
      hint && tensor.node && tensor.node->kind == NodeKind::Project)
    tensor.node->hint = hint;
  return Indexing(context, tensor, index).build();
}

} // namespace parser
