// Terms of simplification rules.
#include "stdlib/ops/simplify.h"

#include "lang/op/op.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace stdlib {

using lang::Dim;
using lang::DimMatch;
using lang::Dims;

namespace {

/// How many calls a question may look through.
constexpr int farthest = 8;

constexpr std::array<std::string_view, 6> views = {"reshape",          "reshape_like",
                                                   "expand_dims",      "squeeze",
                                                   "nn.batch_flatten", "contrib_reverse_reshape"};
constexpr std::array<std::string_view, 6> movers = {
    "broadcast_to", "broadcast_to_like", "transpose", "reverse", "copy", "tile"};

/// What gives a tensor of the shape of its first operand.
constexpr std::array shapeKeepers = {lang::Role::ZerosLike, lang::Role::OnesLike,
                                     lang::Role::CastLike,  lang::Role::Barrier,
                                     lang::Role::Negate,    lang::Role::Not};

bool isOneOf(std::span<const std::string_view> names, const TermCall& call) {
  return std::ranges::find(names, call.row->name) != names.end();
}

/// The tensor that gave a tensor its shape.
Term shapeSource(const SimplifyCall& s, Term term) {
  for (int i = 0; i < farthest; ++i) {
    auto made = s.madeBy(term);
    if (!made)
      break;
    if (std::ranges::count(shapeKeepers, made->row->role) > 0)
      term = made->operands[0];
    else if (made->row->name == "broadcast_to_like")
      term = made->operands[1];
    else
      break;
  }
  return term;
}

/// Whether the elements of a constant are all the same bits as one number.
bool isUniform(const runtime::Tensor& tensor, const runtime::Tensor& number) {
  size_t width = number.byteSize();
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (std::memcmp(tensor.bytes() + size_t(i) * width, number.bytes(), width) != 0)
      return false;
  return true;
}

} // namespace

bool isFilledWith(SimplifyCall& s, Term term, double value) {
  for (int i = 0; i < farthest && term.type()->isTensor(); ++i) {
    if (auto constant = s.constantOf(term))
      return isUniform(*constant, *s.constantOf(s.number(term.dtype(), value)));
    auto made = s.madeBy(term);
    if (!made)
      return false;
    std::string_view name = made->row->name;
    if (name == "zeros" || made->row->role == lang::Role::ZerosLike)
      return value == 0;
    if (name == "ones" || made->row->role == lang::Role::OnesLike)
      return value == 1;
    bool isFull = name == "full" || name == "full_like";
    if (!isFull && !isOneOf(views, *made) && !isOneOf(movers, *made))
      return false;
    Term source = made->operands[name == "full_like" ? 1 : 0];
    if (source.dtype() != term.dtype())
      return false;
    term = source;
  }
  return false;
}

bool haveOneShape(const SimplifyCall& s, const Term& a, const Term& b) {
  if (isSameShape(a.shape(), b.shape()))
    return true;
  Term first = shapeSource(s, a), second = shapeSource(s, b);
  return first.atom() == second.atom() || isSameShape(first.shape(), second.shape());
}

bool keepsShape(const SimplifyCall& s, const Term& x, const Term& other) {
  if (haveOneShape(s, x, other))
    return true;
  if (other.rank() > x.rank())
    return false;
  for (size_t back = 1; back <= other.rank(); ++back) {
    const Dim* dim = other.dim(other.rank() - back);
    if (!dim->isConstant(1) && lang::matchDims(dim, x.dim(x.rank() - back)) != DimMatch::Same)
      return false;
  }
  return true;
}

bool isStatic(Dims shape) {
  return std::ranges::all_of(shape, [](const Dim* dim) { return dim->isConstant(); });
}

std::vector<int64_t> extentsOf(Dims shape) {
  std::vector<int64_t> extents;
  for (const Dim* dim : shape)
    extents.push_back(dim->value);
  return extents;
}

Term reshapedTo(const Term& a, Dims shape) {
  std::vector<int64_t> extents = extentsOf(shape);
  bool hasZero = std::ranges::find(extents, 0) != extents.end();
  return a.rule().call("reshape", {a}, {{"newshape", extents}, {"allowzero", hasZero}});
}

std::vector<lang::Setting> settingsOf(const lang::Attributes& attributes) {
  std::vector<lang::Setting> settings;
  for (size_t i = 0; i < attributes.rows.size(); ++i)
    settings.emplace_back(attributes.rows[i].name, attributes.values[i]);
  return settings;
}

bool becomesSameShape(SimplifyCall& s) {
  return isSameShape(s.operand(0).shape(), s.resultType()->shape) && s.becomesIfTyped(s.operand(0));
}

bool becomesZeros(SimplifyCall& s) {
  const lang::Type* type = s.resultType();
  if (!isFilledWith(s, s.operand(0), 0) || !isStatic(type->shape))
    return false;
  if (type->shape.empty())
    return s.becomesIfTyped(s.number(type->dtype, 0));
  return s.becomesIfTyped(
      s.call("zeros", {}, {{"shape", extentsOf(type->shape)}, {"dtype", type->dtype}}));
}

bool becomesUndone(SimplifyCall& s, std::string_view op) {
  auto inner = s.madeBy(s.operand(0), op);
  return inner && s.becomesIfTyped(inner->operands[0]);
}

bool becomesBeside(SimplifyCall& s, size_t operand, double neutral) {
  Term x = s.operand(operand), other = s.operand(1 - operand);
  return isFilledWith(s, other, neutral) && keepsShape(s, x, other) && s.becomesIfTyped(x);
}

std::optional<Term> unbroadcast(const SimplifyCall& s, const Term& term) {
  auto made = s.madeBy(term);
  bool isRepeated = made && made->row->name.starts_with("broadcast_to");
  if (!isRepeated && !(made && isOneOf(views, *made)))
    return std::nullopt;
  Term source = made->operands[0];
  if (isRepeated)
    return source;
  if (source.rank() >= term.rank())
    return std::nullopt;
  size_t leading = term.rank() - source.rank();
  bool areOnes = std::ranges::all_of(term.shape().first(leading),
                                     [](const Dim* dim) { return dim->isConstant(1); });
  bool isSame = isSameShape(source.shape(), term.shape().subspan(leading));
  return areOnes && isSame ? std::optional(source) : std::nullopt;
}

Term broadcastSource(const SimplifyCall& s, Term term) {
  for (int i = 0; i < farthest; ++i) {
    auto before = unbroadcast(s, term);
    if (!before)
      break;
    term = *before;
  }
  return term;
}

bool becomesUnbroadcast(SimplifyCall& s) {
  for (size_t i : {0, 1}) {
    Term repeated = s.operand(i), other = s.operand(1 - i);
    auto source = unbroadcast(s, repeated);
    if (!source || !keepsShape(s, other, repeated))
      continue;
    std::string_view op = s.row().name;
    if (s.becomesIfTyped(i == 0 ? s.call(op, {*source, other}) : s.call(op, {other, *source})))
      return true;
  }
  return false;
}

void simplifyView(SimplifyCall& s) {
  if (becomesZeros(s))
    return;
  Term source = s.operand(0);
  bool isView = false;
  for (int i = 0; i < farthest; ++i) {
    auto made = s.madeBy(source);
    if (!made || !isOneOf(views, *made))
      break;
    source = made->operands[0];
    isView = true;
  }
  Dims shape = s.resultType()->shape;
  if (isSameShape(source.shape(), shape) && s.becomesIfTyped(source))
    return;
  bool readsShape = s.row().name == "reshape_like";
  if ((isView || readsShape) && isStatic(shape))
    s.becomesIfTyped(reshapedTo(source, shape));
}

} // namespace stdlib
