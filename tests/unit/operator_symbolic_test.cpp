// One relation for both times: what it infers over named dimensions must be what it computes over
// numbers, for every assignment of numbers to the names that keeps the bounds it asks for.
//
// Run with `-s` to see, row by row, how many extents stayed `?` although the numbers give them, and
// with `--rng-seed NUMBER` for other cases.
#include "stdlib/ops.h"
#include "tests/harness/draw.h"
#include "tests/harness/naming.h"
#include "tests/harness/samples.h"
#include "tests/harness/types.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>

using namespace lang;
using Outcome = RelationResult::Outcome;
using harness::Naming, harness::Sizes;

namespace {

/// What became of the cases of one row.
struct Tally {
  size_t cases = 0, compared = 0, open = 0, refused = 0;
  size_t excused = 0;
};

bool matches(Types left, Types right);

/// Whether a type that a relation asks of an operand can be the one that it has.
bool matches(const Type* left, const Type* right) {
  if (left == right)
    return true;
  if (left->kind != right->kind || left->shape.size() != right->shape.size() ||
      !(left->dtype == right->dtype))
    return false;
  for (size_t i = 0; i < left->shape.size(); ++i)
    if (matchDims(left->shape[i], right->shape[i]) == DimMatch::Different)
      return false;
  return matches(left->parts, right->parts);
}

bool matches(Types left, Types right) {
  return std::ranges::equal(left, right,
                            [](const Type* a, const Type* b) { return matches(a, b); });
}

bool anyDim(const Type* type, const std::function<bool(const Dim*)>& found) {
  return harness::anyPart(
      type, [&](const Type* part) { return std::ranges::any_of(part->shape, found); });
}

/// One call with names, and the relation's answer to it.
class SymbolicCase {
public:
  SymbolicCase(TypeContext& types, const harness::OperatorSample& sample,
               std::vector<const Type*> operands, Tally& tally)
      : types_(types), sample_(sample), operands_(std::move(operands)), tally_(tally),
        answer_(ask(operands_)) {}

  bool isSolved() const { return answer_.outcome == Outcome::Solved; }
  std::string problem() const { return answer_.problem.plain(); }

  RelationResult ask(const std::vector<const Type*>& operands) const {
    RelationCall call{types_, operands, sample_.attributes};
    RelationResult result = applyRelation(*sample_.row, call);
    for (const auto& [index, type] : result.operands)
      if (result.outcome == Outcome::Solved && !matches(type, operands[index]))
        return call.failedAt(index, "another type is needed: " + typeText(type));
    return result;
  }

  /// The operands at these sizes; nothing where an extent would be negative.
  std::optional<std::vector<const Type*>> operandsAt(const Sizes& sizes) const {
    std::vector<const Type*> result;
    for (const Type* operand : operands_)
      result.push_back(typeAt(operand, sizes));
    bool isSize = std::ranges::none_of(result, hasNegative);
    return isSize ? std::optional(result) : std::nullopt;
  }

  /// Why the answers at these sizes contradict; empty when they agree.
  std::string contradiction(const Sizes& sizes) {
    auto numbers = operandsAt(sizes);
    if (!numbers)
      return "";
    RelationResult concrete = ask(*numbers);
    const Type* expected = typeAt(answer_.output, sizes);
    bool isBounded = false;
    for (const DimBound& bound : answer_.bounds) {
      int64_t size = dimAt(bound.dim, sizes)->value;
      isBounded |= size < bound.least || size % bound.divisor != 0;
    }
    if (concrete.outcome != Outcome::Solved) {
      tally_.excused += !isBounded && mayDepend();
      return isBounded || mayDepend() ? "" : "accepts what fails with numbers: " + concrete.problem.plain();
    }
    auto isZero = [](const Dim* dim) { return dim->isConstant(0); };
    if (isBounded)
      return movesBounds() || std::ranges::any_of(
                                  *numbers, [&](const Type* type) { return anyDim(type, isZero); })
                 ? ""
                 : "asks for a bound that numbers do not need";
    ++tally_.compared;
    return agree(expected, concrete.output)
               ? ""
               : fmt::format("with numbers the result is {}, not {}", typeText(concrete.output),
                             typeText(expected));
  }

  /// The whole case for a message.
  std::string text(const Sizes& sizes) const {
    std::string result = std::string(sample_.row->name) + "(";
    for (const Type* operand : operands_)
      result += typeText(operand) + ", ";
    for (const auto& value : sample_.attributes.values)
      result += harness::attributeText(value) + ", ";
    result += ")";
    if (isSolved())
      result += " -> " + typeText(answer_.output);
    for (const DimBound& bound : answer_.bounds)
      result += fmt::format(" if {} >= {} in steps of {}", dimText(bound.dim), bound.least,
                            bound.divisor);
    for (auto [symbol, value] : sizes)
      result += fmt::format("; {} = {}", dimText(symbol), value);
    return result;
  }

private:
  const Dim* dimAt(const Dim* dim, const Sizes& sizes) const {
    return types_.substitute(dim, [&](const Dim* symbol) {
      auto found = sizes.find(symbol);
      return found == sizes.end() ? symbol : types_.constant(found->second);
    });
  }

  const Type* typeAt(const Type* type, const Sizes& sizes) const {
    return harness::changeDims(types_, type, [&](const Dim* dim) { return dimAt(dim, sizes); });
  }

  static bool hasNegative(const Type* type) {
    return anyDim(type, [](const Dim* dim) { return dim->isConstant() && dim->value < 0; });
  }

  /// Slices of numbers move bounds that lie outside, slices of names ask that none does.
  bool movesBounds() const { return sample_.row->name == "strided_slice"; }

  /// `?` in the result, and a comparison with a quotient that is given or asked for, leave a
  /// question open, which is asked again when numbers are there.
  bool mayDepend() const {
    auto hasQuotient = [](const Type* type) {
      return anyDim(type, [](const Dim* dim) { return dim->hasQuotient; });
    };
    return anyDim(answer_.output, [](const Dim* dim) { return dim->isAny(); }) ||
           std::ranges::any_of(operands_, hasQuotient) ||
           std::ranges::any_of(answer_.operands,
                               [&](const auto& asked) { return hasQuotient(asked.second); });
  }

  bool agree(const Type* symbolic, const Type* concrete) {
    if (symbolic->kind != concrete->kind || symbolic->shape.size() != concrete->shape.size() ||
        symbolic->parts.size() != concrete->parts.size() || !(symbolic->dtype == concrete->dtype))
      return false;
    for (size_t i = 0; i < symbolic->shape.size(); ++i) {
      const Dim *form = symbolic->shape[i], *number = concrete->shape[i];
      tally_.open += form->isAny() && !number->isAny();
      if (!form->isAny() && (!number->isConstant() || form->value != number->value))
        return false;
    }
    for (size_t i = 0; i < symbolic->parts.size(); ++i)
      if (!agree(symbolic->parts[i], concrete->parts[i]))
        return false;
    return true;
  }

  TypeContext& types_;
  const harness::OperatorSample& sample_;
  std::vector<const Type*> operands_;
  Tally& tally_;
  RelationResult answer_;
};

Sizes otherSizes(Sizes sizes, harness::Random& random) {
  int64_t most = random.chance(50) ? 7 : 30;
  bool changesAll = random.chance(60);
  for (auto& [symbol, value] : sizes)
    if (changesAll || random.chance(40))
      value = random.integer(0, most);
  return sizes;
}

bool haveOneRank(const Type* left, const Type* right) {
  return left->kind == right->kind && left->shape.size() == right->shape.size() &&
         std::ranges::equal(left->parts, right->parts, haveOneRank);
}

/// Whether a call that is refused with names is accepted with every number that was tried, with a
/// result whose rank does not depend on them.
bool isNeedless(const SymbolicCase& refused, const Sizes& sizes, harness::Random& random) {
  size_t accepted = 0;
  const Type* first = nullptr;
  for (int i = 0; i < 60 && accepted < 20; ++i) {
    Sizes tried = i == 0 ? sizes : otherSizes(sizes, random);
    if (i == 1 || i == 2)
      for (auto& [symbol, value] : tried)
        value = i - 1;
    auto numbers = refused.operandsAt(tried);
    if (!numbers)
      continue;
    RelationResult answer = refused.ask(*numbers);
    if (answer.outcome != Outcome::Solved || (first && !haveOneRank(first, answer.output)))
      return false;
    first = answer.output;
    ++accepted;
  }
  return accepted == 20;
}

std::string checkCase(TypeContext& types, const harness::OperatorSample& sample, Tally& tally,
                      harness::Random& random) {
  Naming naming(types, random);
  SymbolicCase named(types, sample, naming.name(sample.operands), tally);
  if (naming.sizes.empty())
    return "";
  ++tally.cases;
  if (!named.isSolved()) {
    ++tally.refused;
    // The rank of these results hangs on an extent, though it may take another size than is tried.
    if (sample.row->name == "squeeze" || sample.row->name.starts_with("dyn."))
      return "";
    // A rule that works on numbers alone says so, and may accept all that are tried.
    if (named.problem().find("must be numbers") != std::string::npos)
      return "";
    return isNeedless(named, naming.sizes, random)
               ? "refuses what numbers never fail: " + named.problem() + "\n" +
                     named.text(naming.sizes)
               : "";
  }
  Sizes sizes = naming.sizes;
  for (int i = 0; i < 8; ++i, sizes = otherSizes(naming.sizes, random))
    if (std::string problem = named.contradiction(sizes); !problem.empty())
      return problem + "\n" + named.text(sizes);
  return "";
}

} // namespace

TEST_CASE("relations infer over names what they compute over numbers") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  uint64_t seed = harness::mixSeed(20, Catch::rngSeed());
  harness::fillSamples(pool, reader, seed, {.perRow = 40});
  for (size_t row = 0; row < pool.byRow.size(); ++row) {
    Tally tally;
    harness::Random random(harness::mixSeed(seed, stdlib::operatorTable().all()[row]->name));
    std::vector<std::string> problems;
    for (const harness::OperatorSample* sample : pool.byRow[row])
      for (int i = 0; i < 4; ++i)
        if (std::string problem = checkCase(types, *sample, tally, random); !problem.empty())
          problems.push_back(problem);
    INFO(stdlib::operatorTable().all()[row]->name
         << ": " << tally.cases << " cases with names, " << tally.refused << " of them refused; "
         << tally.compared << " results compared, " << tally.open << " extents `?`, "
         << tally.excused << " calls left to run time");
    CAPTURE(problems);
    CHECK(problems.empty());
  }
}
