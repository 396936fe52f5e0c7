// What the author of an operator writes a gradient rule with: calls that become core IR at once.
//
//   void multiplyGradient(GradientCall& d) {
//     d.to(0, summedLike(d.cotangent() * d.operand(1), d.operand(0)));
//     d.to(1, summedLike(d.cotangent() * d.operand(0), d.operand(1)));
//   }
//
// A rule runs once for each call of its operator in a program, when the types are known; extents
// may still be names, forms or `?`. Every call that it emits is put to the relation of the called
// operator, so a rule that is wrong for a shape is found where it is made: it throws
// std::logic_error, which is a fault of Baton and never one of the program. An operand that the
// rule gives nothing to has no cotangent. The operators of the notation, as `*` above, are in
// stdlib/ops/gradient.h, for lang/ knows no operator by name.
#pragma once

#include "lang/ir/term.h"
#include "lang/op/declared.h"
#include "lang/op/relation.h"

#include <functional>
#include <memory>

namespace lang {

/// The call of an operator that a rule is asked about.
struct GradientSite {
  Types operandTypes;
  const Type* resultType;
  const Attributes& attributes;
  std::span<const Atom> operands;
  Atom result;
  /// For each tensor of the result in order the cotangent that comes in, or null for zero.
  std::span<const Atom> cotangents;
  /// Takes what an operand, a tensor, or its first field has gathered so far, or null for zero.
  std::function<Atom(size_t operand)> takeSum = {};
};

/// One run of a rule: what it may ask, and where it puts what it answers.
class GradientCall : public TermWriter {
public:
  GradientCall(BlockBuilder& block, const GradientSite& site);

  const Attributes& attributes() const { return site_.attributes; }
  /// The question that was put to the operator's relation, for what it shares with the rule.
  RelationCall relationCall() const { return {types(), site_.operandTypes, attributes()}; }
  /// An integer attribute that names a dimension of a tensor of that rank.
  size_t axis(std::string_view attribute, size_t rank) const;

  size_t operandCount() const { return site_.operands.size(); }
  Term operand(size_t i);
  /// How many fields operand `i` has, a tuple.
  size_t fieldCount(size_t i) const { return site_.operandTypes[i]->parts.size(); }
  Term field(size_t i, size_t field);
  Term result();
  /// A field of a result that is a tuple.
  Term result(size_t field);
  /// The cotangent of a result that is a tensor, or of one field; zeros where none comes in.
  Term cotangent(size_t field = 0);
  bool hasCotangent(size_t field = 0) const { return site_.cotangents[field] != nullptr; }

  /// What operand `i`, a tensor, or its first field has gathered so far. It has gathered nothing
  /// then, so what the rule gives it must contain this. Nothing where that is zero.
  std::optional<Term> takeSum(size_t i);

  /// Whether the operand, or the field of it, is of a float type: others have no cotangent, and
  /// what they are given counts for nothing.
  bool wants(size_t i, size_t field = 0) const { return leafType(i, field)->dtype.isFloat(); }
  /// Gives the operand, which must be a tensor, or a field of it its cotangent, of the same type.
  void to(size_t i, const Term& cotangent) { toField(i, 0, cotangent); }
  void toField(size_t i, size_t field, const Term& cotangent);

  /// For each operand the cotangent of each of its tensors, or null where it has none.
  const std::vector<std::vector<Atom>>& cotangents() const { return cotangents_; }

private:
  const Type* leafType(size_t i, size_t field) const;

  GradientSite site_;
  std::vector<std::vector<Atom>> cotangents_;
};

/// The rule of a call as a program: a module with one function, whose parameters are the operands
/// by their names, `result` and `cotangent`. Its result is the tuple of the cotangents that the
/// rule gives, or the only one.
struct GradientFunction {
  std::unique_ptr<Module> module;
  const Global* global = nullptr;
  /// What the fields of the result belong to: an operand, and a field of it if it is a tuple.
  std::vector<std::pair<size_t, size_t>> given;
};

/// Writes the rule of an operator that has one for a call of these types.
GradientFunction gradientFunction(TypeContext& types, const OperatorTable& operators,
                                  const OperatorRow& row, Types operands, const Type* result,
                                  const Attributes& attributes);

} // namespace lang
