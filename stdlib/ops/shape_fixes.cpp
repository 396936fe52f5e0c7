// Trials for rearranging operators. They try numbers of the call's own size only, so they are quick
// for whatever stands in an attribute.
#include "stdlib/ops/shape_fixes.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stdlib {

using lang::AttributeValue;
using lang::Dim;
using lang::Dims;
using lang::RelationCall;

namespace {

/// Longer lists are not worth a suggestion.
constexpr size_t longestList = 16;

std::optional<int64_t> countOf(Dims shape) {
  int64_t count = 1;
  for (const Dim* dim : shape)
    if (!dim->isConstant() || __builtin_mul_overflow(count, dim->value, &count))
      return std::nullopt;
  return count;
}

/// What entry `i` of a new shape may be so that the others, of which one may be -1, fit; a 0 copies
/// the extent at its place.
std::vector<int64_t> entriesThatFit(Dims from, std::span<const int64_t> wanted, size_t i) {
  std::vector<const Dim*> spread;
  for (size_t k = 0; k < from.size(); ++k)
    if (k >= wanted.size() || wanted[k] != 0)
      spread.push_back(from[k]);
  auto rest = countOf(spread);
  bool isOpen = false;
  for (size_t k = 0; rest && k < wanted.size(); ++k) {
    isOpen |= wanted[k] == -1;
    if (k == i || wanted[k] == -1 || (wanted[k] == 0 && k < from.size()))
      continue;
    if (wanted[k] < 1 || *rest % wanted[k] != 0)
      return {};
    *rest /= wanted[k];
  }
  if (!rest || *rest < 1)
    return {};
  return isOpen ? nearDivisors(*rest, wanted[i]) : std::vector<int64_t>{*rest};
}

/// True when the entry repeats an extent of the source at the same place, so it is hardly wrong.
bool isKept(Dims from, std::span<const int64_t> wanted, size_t i) {
  return i < from.size() && from[i]->isConstant(wanted[i]);
}

} // namespace

Fixes reshapeFix(const RelationCall& call, Relation relation) {
  std::vector<int64_t> wanted = call.attributes.integers("newshape");
  Fixes found;
  if (wanted.size() > longestList)
    return found;
  for (size_t i = 0; i < wanted.size() && found.empty(); ++i) {
    if (wanted[i] < 1 || isKept(call.shape(0), wanted, i))
      continue;
    for (int64_t entry : entriesThatFit(call.shape(0), wanted, i)) {
      std::vector<int64_t> changed = wanted;
      changed[i] = entry;
      if (Fix fix = listFix(call, relation, "newshape", changed, "sizes that fit: {}"))
        found.push_back(*fix);
    }
  }
  for (lang::CallFix& fix : found)
    fix.isFact = true;
  return found;
}

Fix squeezeFix(const RelationCall& call, Relation relation) {
  std::vector<int64_t> ones;
  for (size_t i = 0; i < call.rank(0); ++i)
    if (call.shape(0)[i]->isConstant(1))
      ones.push_back(int64_t(i));
  if (ones.empty() || ones.size() > longestList)
    return std::nullopt;
  return listFix(call, relation, "axis", ones,
                 ones.size() == 1
                     ? fmt::format("only dimension {} is 1: {{}}", ones[0])
                     : fmt::format("the dimensions {} are 1: {{}}", fmt::join(ones, " and ")));
}

namespace {

/// `axes` with each of the two entries of a repeated axis replaced by the missing one.
std::vector<std::vector<int64_t>> withoutRepeats(const std::vector<int64_t>& axes) {
  std::vector<std::vector<int64_t>> result;
  std::vector<size_t> counts(axes.size());
  for (int64_t axis : axes) {
    if (axis < 0 || size_t(axis) >= axes.size())
      return {};
    ++counts[size_t(axis)];
  }
  if (std::ranges::count(counts, 0u) != 1)
    return {};
  int64_t missing = std::ranges::find(counts, 0u) - counts.begin();
  for (size_t i = axes.size(); i-- > 0;)
    if (counts[size_t(axes[i])] == 2) {
      result.push_back(axes);
      result.back()[i] = missing;
    }
  return result;
}

} // namespace

Fixes permutationFix(const RelationCall& call, Relation relation) {
  std::vector<int64_t> axes = call.attributes.integers("axes");
  size_t rank = call.rank(0);
  Fixes found;
  if (axes.size() > longestList)
    return found;
  if (axes.size() == rank) {
    for (const std::vector<int64_t>& changed : withoutRepeats(axes))
      if (Fix fix =
              listFix(call, relation, "axes", changed, "each axis must be named once, as in {}"))
        found.push_back(*fix);
    return found;
  }
  if (axes.size() + 1 != rank)
    return found;
  for (int64_t& axis : axes) {
    if (axis >= int64_t(rank))
      return found;
    axis += axis >= 0;
  }
  axes.insert(axes.begin(), 0);
  return fixesOf(listFix(call, relation, "axes", axes,
                         "to leave a first axis, such as the batch, in its place: {}"));
}

Fix otherAxisFix(const RelationCall& call, Relation relation) {
  if (!call.operands[0]->isTensor() || call.rank(0) > longestList)
    return std::nullopt;
  Fix result;
  for (size_t axis = 0; axis < call.rank(0); ++axis) {
    Fix fix = attributeFix(call, relation, "axis", lang::intAttribute(int64_t(axis)),
                           fmt::format("it fits along axis {}: write {{}}", axis));
    if (fix && result)
      return std::nullopt;
    if (fix)
      result = fix;
  }
  return result;
}

Fixes vectorFix(const RelationCall& call, Relation relation,
                std::span<const std::string_view> names) {
  Fixes fixes = fixesOf(otherAxisFix(call, relation));
  auto axis = call.normalAxis(call.attributes.integer("axis"), call.rank(0));
  for (size_t i = 0; axis && i < names.size() && fixes.empty(); ++i)
    fixes = fixesOf(shapeFix(call, relation, i + 1, names[i], 0, call.shape(0)[*axis]));
  return fixes;
}

namespace {

/// Pads the one of two fields that lost a row or a column to a halving of an odd extent.
Fix oddPadFix(const RelationCall& call, Relation relation, size_t axis) {
  lang::Types fields = call.fields(0);
  if (fields.size() != 2 || fields[0]->shape.size() != fields[1]->shape.size() ||
      fields[0]->dtype != runtime::Float32)
    return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    Dims small = fields[k]->shape, large = fields[1 - k]->shape;
    std::vector<const Dim*> shape(small.begin(), small.end());
    std::vector<std::string> widths;
    for (size_t i = 0; i < shape.size(); ++i) {
      bool isShort = i != axis && small[i]->isConstant() && small[i]->value < INT64_MAX &&
                     large[i]->isConstant(small[i]->value + 1);
      widths.push_back(isShort ? "[0, 1]" : "[0, 0]");
      if (isShort)
        shape[i] = large[i];
    }
    std::vector<const lang::Type*> changed(fields.begin(), fields.end());
    changed[k] = call.types.tensor(Dims(shape), runtime::Float32);
    if (Trial(call).operand(0, call.types.tuple(changed)).holds(relation))
      return wrapFix("an odd size was halved and doubled; pad it: {}", 0, "nn.pad(",
                     fmt::format(", 0f, pad_width=[{}])", fmt::join(widths, ", ")), k);
  }
  return std::nullopt;
}

} // namespace

namespace {

/// An axis for a field that misses one; that along which the operator joins first, since a field
/// without it is the usual mistake.
Fix newFieldAxisFix(const RelationCall& call, Relation relation, size_t rank, size_t joined) {
  lang::Types fields = call.fields(0);
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k]->shape.size() + 1 != rank)
      continue;
    for (size_t i = 0; i <= rank; ++i) {
      size_t axis = i == 0 ? joined : i - 1;
      std::vector<const Dim*> shape(fields[k]->shape.begin(), fields[k]->shape.end());
      shape.insert(shape.begin() + ptrdiff_t(std::min(axis, shape.size())), call.types.constant(1));
      std::vector<const lang::Type*> changed(fields.begin(), fields.end());
      changed[k] = call.types.tensor(Dims(shape), fields[k]->dtype);
      if (Trial(call).operand(0, call.types.tuple(changed)).holds(relation))
        return wrapFix("add an axis: {}", 0, "expand_dims(", fmt::format(", axis={})", axis), k);
    }
  }
  return std::nullopt;
}

} // namespace

Fixes joinFix(const RelationCall& call, Relation relation) {
  lang::Types fields = call.fields(0);
  size_t rank = 0;
  for (const lang::Type* field : fields)
    rank = std::max(rank, field->shape.size());
  Fixes fixes;
  if (fields.empty() || fields.size() > longestList || rank > longestList)
    return fixes;
  for (size_t axis = 0; axis < rank && fixes.empty(); ++axis)
    fixes = fixesOf(
        attributeFix(call, relation, "axis", lang::intAttribute(int64_t(axis)),
                     fmt::format("the shapes differ along axis {} only: write {{}}", axis)));
  auto joined = call.normalAxis(call.attributes.integer("axis"), rank);
  if (joined)
    addFallbacks(fixes, fixesOf(oddPadFix(call, relation, *joined)));
  addFallbacks(fixes, fixesOf(newFieldAxisFix(call, relation, rank, joined.value_or(0))));
  return fixes;
}

Fixes splitFix(const RelationCall& call, Relation relation, int64_t extent, int64_t count) {
  Fixes found;
  for (int64_t near : nearDivisors(extent, count))
    if (Fix fix = attributeFix(call, relation, "indices_or_sections", lang::intAttribute(near),
                               "equal parts: {}"))
      found.push_back(*fix);
  for (lang::CallFix& fix : found)
    fix.isFact = true;
  if (count < 2 || count > int64_t(longestList))
    return found;
  std::vector<int64_t> cuts;
  int64_t step = extent / count + 1;
  for (int64_t i = 1; i < count; ++i)
    cuts.push_back(i * step);
  if (Fix fix = listFix(call, relation, "indices_or_sections", cuts, "unequal parts: {}"))
    found.push_back(*fix);
  return found;
}

Fix padWidthFix(const RelationCall& call, Relation relation) {
  auto widths = call.attributes.integerLists("pad_width");
  size_t rank = call.rank(0);
  if (widths.size() >= rank || rank > longestList)
    return std::nullopt;
  widths.insert(widths.begin(), rank - widths.size(), {0, 0});
  std::vector<std::vector<AttributeValue>> pairs;
  std::vector<AttributeValue> items;
  std::vector<std::string> texts;
  pairs.reserve(widths.size());
  for (const std::vector<int64_t>& pair : widths) {
    pairs.emplace_back();
    for (int64_t width : pair)
      pairs.back().push_back(lang::intAttribute(width));
    items.push_back(lang::listAttribute(pairs.back()));
    texts.push_back(fmt::format("[{}]", fmt::join(pair, ", ")));
  }
  if (!Trial(call).attribute("pad_width", items).holds(relation))
    return std::nullopt;
  return lang::CallFix{"to pad the last dimensions only: {}",
                       {{lang::CallChange::Kind::Attribute,
                         0,
                         {},
                         "pad_width",
                         fmt::format("[{}]", fmt::join(texts, ", ")),
                         {}}}};
}

} // namespace stdlib
