// Making core IR. Names, lists and attribute values are copied to the module's arena.
#include "lang/ir/builder.h"

#include "lang/op/attribute_schema.h"
#include "lang/op/op.h"
#include "runtime/budget.h"
#include "runtime/half.h"

#include <bit>
#include <stdexcept>

#include <fmt/format.h>

namespace lang {

namespace {

/// The low bits that a scalar of the type has; constants of equal value have equal bits.
uint64_t truncated(runtime::DType dtype, uint64_t bits) {
  return dtype.bits >= 64 ? bits : bits & ((uint64_t(1) << dtype.bits) - 1);
}

} // namespace

uint64_t scalarBits(runtime::DType dtype, double value) {
  if (dtype == runtime::Float64)
    return std::bit_cast<uint64_t>(value);
  if (dtype == runtime::Float32)
    return std::bit_cast<uint32_t>(float(value));
  if (dtype == runtime::Float16)
    return runtime::Half(runtime::floatRoundedToOdd(value)).bits;
  if (dtype == runtime::BFloat16)
    return runtime::BHalf(runtime::floatRoundedToOdd(value)).bits;
  if (dtype.isBool())
    return value != 0;
  return value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
}

AttributeValue Setting::kept(Arena& arena) const {
  if (text)
    return stringAttribute(arena.copyText(*text));
  return items.empty() ? copyAttribute(arena, value) : listAttribute(arena.copy(items));
}

Var* Builder::var(VarOrigin origin, std::string_view name, const Type* annotation) {
  runtime::Budget::step();
  Var* made = node<Var>(arena.copyText(name), origin, module.varCount++);
  made->annotation = annotation;
  coverUnknowns(annotation);
  return made;
}

namespace {

/// Recursion follows the form, whose depth is bounded.
uint32_t unknownsOf(const Dim& dim) {
  if (!dim.hasUnknown)
    return 0;
  uint32_t count = dim.kind == DimKind::Unknown ? uint32_t(dim.value) + 1 : 0;
  for (const DimTerm& term : dim.terms)
    count = std::max(count, unknownsOf(*term.variable));
  return count;
}

} // namespace

void Builder::coverUnknowns(const Type* declared) {
  if (!declared || !declared->hasUnknown)
    return;
  std::vector<const Type*> stack{declared};
  while (!stack.empty()) {
    const Type* type = stack.back();
    stack.pop_back();
    if (!type || !type->hasUnknown)
      continue;
    if (type->isUnknown())
      module.unknownCount = std::max(module.unknownCount, type->number + 1);
    for (const Dim* dim : type->shape)
      module.unknownDimCount = std::max(module.unknownDimCount, unknownsOf(*dim));
    stack.insert(stack.end(), type->parts.begin(), type->parts.end());
    stack.push_back(type->result);
  }
}

const Constant* Builder::bits(runtime::DType dtype, uint64_t value) {
  return node<Constant>(types.scalar(dtype), value);
}

const Constant* Builder::scalar(runtime::DType dtype, double value) {
  return bits(dtype, truncated(dtype, scalarBits(dtype, value)));
}

const Constant* Builder::integer(runtime::DType dtype, int64_t value) {
  return bits(dtype, truncated(dtype, uint64_t(value)));
}

const Constant* Builder::tensor(runtime::Tensor value) {
  const runtime::Tensor& kept = module.tensors.emplace_back(std::move(value));
  return node<Constant>(types.tensorOf(kept.shape(), kept.dtype()), uint64_t(0), &kept);
}

Atom Builder::op(const OperatorRow& row) {
  return node<OperatorRef>(&row);
}

Global* Builder::declare(std::string_view name) {
  auto* global = node<Global>(arena.copyText(name), uint32_t(module.globals.size()));
  module.globals.push_back(global);
  return global;
}

const Global* Builder::define(Global* global, const Function* function) {
  global->function = function;
  return global;
}

const OperatorRow& Builder::row(std::string_view name) const {
  const OperatorRow* found = operators.find(name);
  if (!found)
    throw std::logic_error(fmt::format("no operator is named `{}`", name));
  return *found;
}

const TupleExpr* Builder::tuple(Atoms fields) {
  return node<TupleExpr>(operands(fields));
}

const Project* Builder::project(Atom tuple, uint32_t index) {
  return node<Project>(operand(tuple), index);
}

const Call* Builder::call(Atom callee, Atoms arguments) {
  return node<Call>(operand(callee), operands(arguments));
}

const Call* Builder::call(const OperatorRow& row, Atoms arguments, Settings settings) {
  return node<Call>(operand(op(row)), operands(arguments), attributes(row, settings));
}

const If* Builder::branch(Atom condition, const Block* thenBlock, const Block* elseBlock) {
  return node<If>(operand(condition), thenBlock, elseBlock);
}

const Match* Builder::match(Atom scrutinee, ListOf<Arm> arms, bool isPartial) {
  return node<Match>(operand(scrutinee), isPartial, arena.copy(arms));
}

const RefNew* Builder::refNew(Atom content) {
  return node<RefNew>(operand(content));
}

const RefRead* Builder::refRead(Atom reference) {
  return node<RefRead>(operand(reference));
}

const RefWrite* Builder::refWrite(Atom reference, Atom value) {
  return node<RefWrite>(operand(reference), operand(value));
}

const BlockExpr* Builder::blockExpr(const Block* block) {
  return node<BlockExpr>(block);
}

Function* Builder::function(ListOf<const Var*> parameters, const Block* body,
                            const Type* resultAnnotation, ListOf<const TypeParameter*> generics,
                            ListOf<NamedAttribute> attributes) {
  coverUnknowns(resultAnnotation);
  return node<Function>(module.functionCount++, arena.copy(generics), arena.copy(parameters),
                        resultAnnotation, body, arena.copy(attributes));
}

const Block* Builder::block(ListOf<Binding> bindings, Atom result) {
  return arena.make<Block>(arena.copy(bindings), operand(result));
}

const Pattern* Builder::anyPattern() {
  return pattern({PatternKind::Wildcard, range});
}

const Pattern* Builder::varPattern(const Var* var) {
  return pattern({PatternKind::Var, range, var});
}

const Pattern* Builder::constructorPattern(const Constructor& constructor,
                                           ListOf<const Pattern*> parts) {
  return pattern({PatternKind::Constructor, range, nullptr, &constructor, arena.copy(parts)});
}

const Pattern* Builder::tuplePattern(ListOf<const Pattern*> parts) {
  return pattern({PatternKind::Tuple, range, nullptr, nullptr, arena.copy(parts)});
}

std::span<const Operand> Builder::operands(Atoms atoms) {
  std::vector<Operand> list;
  for (Atom atom : atoms)
    list.push_back(operand(atom));
  return arena.copy(list);
}

AttributeValue Builder::integers(ListOf<int64_t> values) {
  std::vector<AttributeValue> items;
  for (int64_t value : values)
    items.push_back(intAttribute(value));
  return listAttribute(arena.copy(items));
}

const Attributes* Builder::attributes(const OperatorRow& row, Settings settings) {
  std::span<const AttributeValue> defaults = operators.defaults(&row);
  std::vector<AttributeValue> values(defaults.begin(), defaults.end());
  for (const Setting& setting : settings) {
    auto found = std::ranges::find(row.attributes, setting.name, &AttributeRow::name);
    AttributeValue value = setting.kept(arena);
    if (found == row.attributes.end() || !fitsSchema(*found, value))
      throw std::logic_error(fmt::format("`{}` takes no such `{}`", row.name, setting.name));
    values[size_t(found - row.attributes.begin())] = storedAttribute(arena, *found, value);
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (!fitsSchema(row.attributes[i], values[i]))
      throw std::logic_error(fmt::format("`{}` needs `{}`", row.name, row.attributes[i].name));
  return arena.make<Attributes>(row.attributes, arena.copy(values));
}

const Var* BlockBuilder::bind(const Expr* value) {
  const Var* var = make.var(VarOrigin::Temporary);
  bind(var, value);
  return var;
}

const Var* BlockBuilder::let(std::string_view name, const Expr* value, const Type* annotation) {
  const Var* var = make.var(VarOrigin::Let, name, annotation);
  bind(var, value);
  return var;
}

} // namespace lang
