// Sums of products over named dimensions: einsum.
//
// An equation is read into one letter per dimension; the dimensions that `...` stands for get
// letters that the equation does not use, matched from the right.
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// An equation for operands of known ranks: a letter for each dimension.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view ellipsis = "...";

std::vector<std::string> splitAt(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Replaces `...` in one term by the last `count` of `spare`; false when the term is malformed.
bool expandEllipsis(std::string& term, std::string_view spare, size_t count) {
  size_t at = term.find(ellipsis);
  if (at != std::string::npos)
    term.replace(at, ellipsis.size(), spare.substr(spare.size() - count));
  return term.find_first_not_of(letters) == std::string::npos;
}

/// The result that an equation without `->` means: the letters that occur once, in order.
std::string impliedResult(const std::vector<std::string>& operands, std::string_view broadcast) {
  std::string all, result(broadcast);
  for (const std::string& operand : operands)
    all += operand;
  for (char letter : letters)
    if (std::ranges::count(all, letter) == 1 && broadcast.find(letter) == std::string_view::npos)
      result += letter;
  return result;
}

/// Reads the operands' terms; `longest` becomes the number of dimensions that `...` stands for.
bool readOperands(Equation& equation, std::string_view text, std::span<const size_t> ranks,
                  std::string_view spare, size_t& longest) {
  equation.operands = splitAt(text, ',');
  if (equation.operands.size() != ranks.size())
    return false;
  for (size_t k = 0; k < ranks.size(); ++k) {
    std::string& term = equation.operands[k];
    bool open = term.find(ellipsis) != std::string::npos;
    size_t named = term.size() - (open ? ellipsis.size() : 0);
    if (ranks[k] < named || (!open && ranks[k] != named) || ranks[k] - named > spare.size())
      return false;
    longest = std::max(longest, ranks[k] - named);
    if (!expandEllipsis(term, spare, ranks[k] - named))
      return false;
  }
  return true;
}

/// The equation, or nothing when it is malformed or does not fit the ranks.
std::optional<Equation> readEquation(std::string_view source, std::span<const size_t> ranks) {
  std::string text, spare;
  std::ranges::copy_if(source, std::back_inserter(text), [](char c) { return c != ' '; });
  std::ranges::copy_if(letters, std::back_inserter(spare),
                       [&](char c) { return text.find(c) == std::string::npos; });
  size_t arrow = text.find("->"), longest = 0;
  Equation equation;
  if (!readOperands(equation, text.substr(0, arrow), ranks, spare, longest))
    return std::nullopt;
  std::string_view broadcast = std::string_view(spare).substr(spare.size() - longest);
  if (arrow == std::string::npos) {
    equation.result = impliedResult(equation.operands, broadcast);
    return equation;
  }
  equation.result = text.substr(arrow + 2);
  bool open = equation.result.find(ellipsis) != std::string::npos;
  if (!expandEllipsis(equation.result, spare, longest) || (longest > 0 && !open))
    return std::nullopt;
  for (char letter : equation.result) {
    bool known = std::ranges::any_of(equation.operands, [letter](const std::string& operand) {
      return operand.find(letter) != std::string::npos;
    });
    if (!known || std::ranges::count(equation.result, letter) != 1)
      return std::nullopt;
  }
  return equation;
}

std::optional<Equation> equationOf(const RelationCall& call) {
  std::vector<size_t> ranks;
  for (const Type* field : call.fields(0))
    ranks.push_back(field->shape.size());
  return readEquation(call.attributes.text("equation"), ranks);
}

RelationResult einsumRelation(const RelationCall& call) {
  Types fields = call.fields(0);
  if (fields.empty())
    return call.failedAt(0, "the tuple is empty");
  auto equation = equationOf(call);
  if (!equation)
    return call.failed(words("the equation `{}` does not fit operands of type `{}`",
                             call.attributes.text("equation"), call.operands[0]));
  std::vector<const Dim*> extents(128);
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k]->dtype != fields[0]->dtype)
      return call.failedAt(
          0, words("the element types differ: `{}` and `{}`", fields[0]->dtype, fields[k]->dtype));
    for (size_t i = 0; i < fields[k]->shape.size(); ++i) {
      const Dim*& known = extents[size_t(equation->operands[k][i])];
      const Dim* own = fields[k]->shape[i];
      const Dim* both = known ? call.broadcastDims(known, own) : own;
      if (!both)
        return call.failedAt(0,
                             fmt::format("dimension `{}` of `{}` has the extents {} and {}",
                                         equation->operands[k][i], call.attributes.text("equation"),
                                         dimText(known), dimText(fields[k]->shape[i])));
      known = both;
    }
  }
  std::vector<const Dim*> shape;
  for (char letter : equation->result)
    shape.push_back(extents[size_t(letter)]);
  return call.solved(shape, fields[0]->dtype);
}

void computeEinsum(ComputeCall& call) {
  std::vector<TensorHandle> fields = call.fields(0);
  std::vector<size_t> ranks;
  for (const TensorHandle& field : fields)
    ranks.push_back(field.rank());
  Equation equation = *readEquation(call.attributes().text("equation"), ranks);
  std::vector<Scalar> extents(128, call.integer(1)), at(128);
  std::string summed;
  for (size_t k = 0; k < fields.size(); ++k)
    for (size_t i = 0; i < fields[k].rank(); ++i) {
      char letter = equation.operands[k][i];
      Scalar& extent = extents[size_t(letter)];
      extent = broadcastExtent(extent, fields[k].extent(i));
      if ((equation.result + summed).find(letter) == std::string::npos)
        summed += letter;
    }
  auto product = [&]() {
    Scalar result;
    for (size_t k = 0; k < fields.size(); ++k) {
      Position place;
      for (size_t i = 0; i < fields[k].rank(); ++i) {
        size_t letter = size_t(equation.operands[k][i]);
        place.push_back(broadcastIndex(at[letter], extents[letter], fields[k].extent(i)));
      }
      result = k == 0 ? fields[k](place) : result * fields[k](place);
    }
    return result;
  };
  auto bind = [&](std::string_view names, const Position& position) {
    for (size_t i = 0; i < names.size(); ++i)
      at[size_t(names[i])] = position[i];
  };
  call.result([&](const Position& out) {
    bind(equation.result, out);
    if (summed.empty())
      return product();
    Extents over;
    for (char letter : summed)
      over.push_back(extents[size_t(letter)]);
    return call.sumOver(over, [&](const Position& inner) {
      bind(summed, inner);
      return product();
    });
  });
}

/// True when the result or another factor surely has the extent that operand `k` has at `letter`.
bool isCovered(const RelationCall& call, const Equation& equation, size_t k, char letter) {
  if (equation.result.find(letter) != std::string::npos)
    return true;
  const Dim* extent = call.fields(0)[k]->shape[equation.operands[k].find(letter)];
  for (size_t j = 0; j < equation.operands.size(); ++j) {
    size_t at = equation.operands[j].find(letter);
    if (j != k && at != std::string::npos && !extent->isAny() &&
        (extent->isConstant(1) || call.fields(0)[j]->shape[at] == extent))
      return true;
  }
  return false;
}

/// The cotangent of operand `k`: the sum of products of the result's with the other operands, over
/// the letters that this one has not.
Term operandCotangent(GradientCall& d, const Equation& equation, size_t k) {
  std::string terms = equation.result, own;
  std::vector<Term> tensors{d.cotangent()};
  for (size_t j = 0; j < equation.operands.size(); ++j)
    if (j != k) {
      terms += "," + equation.operands[j];
      tensors.push_back(d.field(0, j));
    }
  const std::string& named = equation.operands[k];
  for (char letter : named)
    if (own.find(letter) == std::string::npos)
      own += letter;
  RelationCall call = d.relationCall();
  if (!std::ranges::all_of(own,
                           [&](char letter) { return isCovered(call, equation, k, letter); })) {
    terms += "," + named;
    tensors.push_back(onesLike(d.field(0, k)));
  }
  auto einsum = [&](const std::vector<Term>& fields, const std::string& from) {
    return d.call("einsum", {d.tuple(fields)}, {{"equation", std::string_view(from + "->" + own)}});
  };
  Term pull = einsum(tensors, terms), operand = d.field(0, k);
  if (own.size() == named.size())
    return summedLike(pull, operand);
  return addedAtPlaces(pull, einsum({placesLike(operand)}, named), operand);
}

void einsumGradient(GradientCall& d) {
  Equation equation = *equationOf(d.relationCall());
  for (size_t k = 0; k < equation.operands.size(); ++k)
    giveField(d, 0, k, operandCotangent(d, equation, k));
}

constexpr OperandRow operands[] = {{"data", "the factors, in order", OperandKind::TensorTuple}};
constexpr AttributeRow attributes[] = {
    {"equation", AttributeKind::String, "",
     "a letter per dimension of each factor, then those of the result, as in `ij,jk->ik`"}};
constexpr Example examples[] = {
    {"einsum(([[1f, 2f], [3f, 4f]], [5f, 6f]), equation=\"ij,j->i\")", "[17f, 39f]"},
    {"einsum(([[1f, 2f], [3f, 4f]],), equation=\"ii\")", "5f"}};

constexpr OperatorRow rows[] = {
    {.name = "einsum",
     .synonyms = "tensordot contract",
     .doc = "Multiplies tensors whose dimensions are matched by letters, and sums over the letters "
            "that the result leaves out.",
     .details = "Without `->` the result has the letters that occur once, in alphabetical order. "
                "`...` stands for dimensions that broadcast.",
     .operands = operands,
     .attributes = attributes,
     .attributesKey = "relay.attrs.EinsumAttrs",
     .relation = einsumRelation,
     .compute = computeEinsum,
     .gradient = GradientRule{einsumGradient},
     .examples = examples},
};

} // namespace

OperatorFamily einsumFamily() {
  return rows;
}

} // namespace stdlib
