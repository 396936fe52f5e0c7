// Definitions and expressions; types are in type_builder.cpp.
#include "parser/baton/builder.h"

#include "parser/surface/distinct_names.h"
#include "parser/surface/node_depth.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser::baton {

using namespace surface;
using lang::Message;

// Definitions.

const Definition* Builder::constant(Range range, Text name, Range nameRange, TypePtr type,
                                    ExprPtr value) {
  auto* made = newNode<ConstantDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->type = type;
  made->value = value;
  return made;
}

const Definition* Builder::test(Range range, Text name, Range nameRange, ExprPtr body) {
  auto* made = newNode<TestDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->body = body;
  return made;
}

Text Builder::joined(Text left, std::string_view mark, Text right) {
  return toText(arena_.copyText(fmt::format("{}{}{}", left.view(), mark, right.view())));
}

/// What is imported is called by the last part of its path where nothing else is said.
const Definition* Builder::import(Range range, Text path, Range pathRange, Text name,
                                  Range nameRange) {
  auto* made = newNode<ImportDefinition>(arena_, range);
  std::string_view whole = path.view();
  made->path = {whole, pathRange};
  bool isNamed = nameRange.isValid() && name.size > 0;
  made->name = isNamed ? Identifier{name.view(), nameRange}
                       : Identifier{whole.substr(whole.rfind('/') + 1), pathRange};
  return made;
}

void Builder::constructor(Text name, Range range, List entryList) {
  std::vector<TypePtr> types;
  std::vector<Identifier> names;
  for (const Entry& entry : entries_.take(arena_, entryList)) {
    types.push_back(entry.type);
    if (!entry.name.text.empty())
      names.push_back(entry.name);
  }
  if (!names.empty() && names.size() != types.size()) {
    diagnostics_.report(Message::PartlyNamedFields, range, name.view());
    names.clear();
  }
  demandDistinct(diagnostics_, names);
  member_ = {{{name.view(), range}, arena_.copy(types), arena_.copy(names)}, nullptr};
}

void Builder::field(Text name, Range range, TypePtr type) {
  member_ = {{{name.view(), range}, {}, {}}, type};
}

void Builder::entry(Text name, Range range, TypePtr type) {
  entry_ = {{name.size > 0 ? name.view() : std::string_view(), range}, type};
}

Constructor Builder::recordOf(Identifier name, std::span<const Member> fields) {
  std::vector<TypePtr> types;
  std::vector<Identifier> names;
  for (const Member& field : fields) {
    types.push_back(field.type);
    names.push_back(field.constructor.name);
  }
  demandDistinct(diagnostics_, names);
  return {name, arena_.copy(types), arena_.copy(names)};
}

/// Fields make a record; a constructor among them is a mistake, and so is a field among
/// constructors.
const Definition* Builder::dataType(Range range, Text name, Range nameRange, List generics,
                                    List memberList) {
  auto* made = newNode<TypeDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->generics = shared_.identifiers.take(arena_, generics);
  demandDistinct(diagnostics_, made->generics);
  std::span<const Member> members = members_.take(arena_, memberList);
  bool isRecord = !members.empty() && members[0].type;
  for (const Member& member : members)
    if ((member.type != nullptr) != isRecord) {
      diagnostics_.report(Message::MixedMembers, member.constructor.name.range, name.view());
      return made;
    }
  std::vector<Constructor> constructors;
  if (isRecord)
    constructors.push_back(recordOf(made->name, members));
  else
    for (const Member& member : members)
      constructors.push_back(member.constructor);
  made->constructors = arena_.copy(constructors);
  return made;
}

const Definition* Builder::alias(Range range, Text name, Range nameRange, List generics,
                                 TypePtr type) {
  auto* made = newNode<TypeDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->generics = shared_.identifiers.take(arena_, generics);
  demandDistinct(diagnostics_, made->generics);
  made->alias = type;
  return made;
}

// Functions and blocks.

const Parameter* Builder::parameter(Text name, Range range, TypePtr type, ExprPtr defaultValue) {
  return arena_.make<Parameter>(Identifier{name.view(), range}, type, std::span<const Attribute>(),
                                defaultValue);
}

const Parameter* Builder::unnamedParameter(Range range, TypePtr type) {
  return arena_.make<Parameter>(Identifier{"_", range}, type);
}

/// What only Relay's text says of a function stands behind its head.
Function* Builder::attributed(Function* function, List attributes) {
  function->attributes = shared_.attributes.take(arena_, attributes);
  return function;
}

const Parameter* Builder::attributedParameter(Text name, Range range, TypePtr type,
                                              List attributes) {
  return arena_.make<Parameter>(Identifier{name.view(), range}, type,
                                shared_.attributes.take(arena_, attributes));
}

const Expr* Builder::functionLiteral(Range range, List generics, Function* head, TypePtr result,
                                     ExprPtr body) {
  return shared_.functionLiteral(range, shared_.function(range, generics, head, result, body));
}

/// A name for a value that has no place of its own.
void Builder::share(Range range, Text name, Range nameRange, ExprPtr value) {
  shared_.let(range, name, nameRange, nullptr, value);
  shared_.lastItem().kind = ItemKind::Graph;
}

/// A pattern that is a name is a plain let.
void Builder::let(Range range, PatternPtr pattern, TypePtr type, ExprPtr value) {
  shared_.let(range, {}, pattern->range, type, value);
  if (const auto* local = tryAs<LocalPattern>(pattern))
    shared_.lastItem().name = local->name;
  else
    shared_.lastItem().pattern = pattern;
}

const Expr* Builder::onlyIf(Range range, ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  shared_.effect(then->range, then);
  ExprPtr nothing = shared_.tuple({range.end, range.end}, {});
  ExprPtr dropped = shared_.sequence(then->range, shared_.startItems(), nothing);
  return shared_.ifExpr(range, condition, dropped, otherwise ? otherwise : nothing);
}

// Expressions.

const Expr* Builder::integer(Range range, IntValue value) {
  if (value.needsMinus)
    unsigned_.push_back({range, value});
  return shared_.integer(range, value);
}

void Builder::finish() {
  for (const Unsigned& each : unsigned_) {
    uint8_t bits = each.value.type.bits;
    std::string type = fmt::format("i{}", bits > 0 ? bits : 64);
    diagnostics_.report(
        Message::NumberOutOfRange, each.range,
        fmt::format("{}{}", uint64_t(each.value.value), bits > 0 ? type : std::string()), type);
  }
}

/// Whether a minus sign in front of a number is part of it: of one that has none yet.
bool Builder::takesSign(const IntLiteral& integer) {
  bool isAwaited = !unsigned_.empty() && unsigned_.back().range.begin == integer.range.begin;
  if (isAwaited)
    unsigned_.pop_back();
  return integer.dtype.isSigned() && (isAwaited || integer.value >= 0);
}

/// A minus sign in front of a number without a sign makes a negative number.
const Expr* Builder::prefix(Range range, PrefixOp op, Range opRange, ExprPtr operand) {
  if (const auto* integer = tryAs<IntLiteral>(operand);
      integer && op == PrefixOp::Negate && takesSign(*integer)) {
    auto* made = arena_.make<IntLiteral>(*integer);
    made->range = range;
    made->value = int64_t(0 - uint64_t(integer->value));
    return made;
  }
  if (const auto* real = tryAs<FloatLiteral>(operand); real && op == PrefixOp::Negate) {
    auto* made = arena_.make<FloatLiteral>(*real);
    made->range = range;
    made->value = -real->value;
    return made;
  }
  auto* made = newNode<Prefix>(arena_, range);
  made->op = op;
  made->opRange = opRange;
  made->operand = operand;
  return shared_.finish(made, operand->depth);
}

void Builder::argument(Text name, Range nameRange, ExprPtr value) {
  argument_ = {};
  if (nameRange.isValid() && name.size > 0)
    argument_.key = {name.view(), nameRange};
  argument_.value.kind = AttributeKind::Expr;
  argument_.value.range = value->range;
  argument_.value.expr = value;
  argument_.value.depth = value->depth;
}

/// Arguments without a name come before those with one.
const Expr* Builder::call(Range range, ExprPtr callee, List argumentList) {
  std::vector<ExprPtr> positional;
  std::vector<Attribute> named;
  for (const Attribute& argument : shared_.attributes.take(arena_, argumentList)) {
    if (!argument.key.text.empty())
      named.push_back(argument);
    else if (named.empty())
      positional.push_back(argument.value.expr);
    else
      diagnostics_.report(Message::ArgumentAfterNamed, argument.value.range)
          .label(named.back().key.range, "this one has a name");
  }
  auto* made = newNode<Call>(arena_, range);
  made->callee = callee;
  made->arguments = arena_.copy(positional);
  made->attributes = arena_.copy(named);
  return shared_.finish(
      made, std::max({depthOf(made->arguments), depthOf(made->attributes), spineDepth(callee)}));
}

const Expr* Builder::index(Range range, ExprPtr operand, List subscriptList) {
  auto* made = newNode<Index>(arena_, range);
  made->operand = operand;
  made->subscripts = subscripts.take(arena_, subscriptList);
  uint32_t depth = spineDepth(operand);
  for (const Subscript& subscript : made->subscripts)
    for (ExprPtr part : {subscript.begin, subscript.end, subscript.step})
      depth = std::max<uint32_t>(depth, part ? part->depth : 0);
  return shared_.finish(made, depth);
}

const Expr* Builder::fieldOf(Range range, ExprPtr operand, Text name, Range nameRange) {
  auto* made = newNode<Field>(arena_, range);
  made->operand = operand;
  made->name = {name.view(), nameRange};
  return shared_.finish(made, spineDepth(operand));
}

const Expr* Builder::with(Range range, ExprPtr operand, List fieldList) {
  auto* made = newNode<With>(arena_, range);
  made->operand = operand;
  made->fields = shared_.attributes.take(arena_, fieldList);
  return shared_.finish(made, std::max(depthOf(made->fields), spineDepth(operand)));
}

const Expr* Builder::text(Range range, Text text) {
  auto* made = newNode<TextLiteral>(arena_, range);
  made->text = text.view();
  return made;
}

const Expr* Builder::placeholder(Range range) {
  return newNode<Placeholder>(arena_, range);
}

const Expr* Builder::tuple(Range range, ExprPtr first, List rest) {
  std::vector<ExprPtr> fields{first};
  for (ExprPtr field : shared_.exprs.take(arena_, rest))
    fields.push_back(field);
  auto* made = newNode<Tuple>(arena_, range);
  made->fields = arena_.copy(fields);
  return shared_.finish(made, depthOf(made->fields));
}

const Subscript* Builder::at(Range range, ExprPtr position) {
  return arena_.make<Subscript>(SubscriptKind::At, range, position);
}

const Subscript* Builder::slice(Range range, ExprPtr begin, ExprPtr end, ExprPtr step) {
  return arena_.make<Subscript>(SubscriptKind::Slice, range, begin, end, step);
}

const Subscript* Builder::restOf(Range range) {
  return arena_.make<Subscript>(SubscriptKind::Rest, range);
}

const Arm* Builder::arm(PatternPtr pattern, ExprPtr guard, ExprPtr body) {
  return arena_.make<Arm>(pattern, body, guard);
}

} // namespace parser::baton
