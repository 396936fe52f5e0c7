// Terms: what the author of an operator writes core IR with, in gradient rules
// (lang/rules/gradient.h) and in simplifications (lang/rules/simplify.h).
//
// A term is an atom and its type. Every call that is written is put to the relation of the called
// operator at once, so a rule that is wrong for a shape is found where it is made: it throws
// std::logic_error, which is a fault of Baton and never one of the program. The operators of the
// notation, such as `*`, are in stdlib/ops/gradient.h, for lang/ knows no operator by name.
#pragma once

#include "lang/ir/builder.h"

#include <map>

namespace lang {

class TermWriter;

/// A value of a rule under construction.
class Term {
public:
  Term(TermWriter* rule, Atom atom, const Type* type) : rule_(rule), atom_(atom), type_(type) {}

  TermWriter& rule() const { return *rule_; }
  Atom atom() const { return atom_; }
  const Type* type() const { return type_; }
  Dims shape() const { return type_->shape; }
  size_t rank() const { return type_->shape.size(); }
  const Dim* dim(size_t i) const { return type_->shape[i]; }
  runtime::DType dtype() const { return type_->dtype; }

private:
  TermWriter* rule_;
  Atom atom_;
  const Type* type_;
};

/// Whether two types are one, or differ only in the words for sizes that are equal.
bool isSameType(const Type* left, const Type* right);

/// One run of a rule, as far as it writes.
class TermWriter {
public:
  explicit TermWriter(BlockBuilder& block) : block_(block) {}
  virtual ~TermWriter() = default;
  TermWriter(const TermWriter&) = delete;
  TermWriter& operator=(const TermWriter&) = delete;

  TypeContext& types() const { return block_.make.types; }
  /// A call of an operator; attributes that are not given have their defaults.
  Term call(std::string_view op, ListOf<Term> operands, Settings settings = {});
  Term tuple(ListOf<Term> fields);
  Term project(const Term& tuple, size_t field);
  /// A constant of rank 0.
  Term number(runtime::DType dtype, double value);
  Term constant(const runtime::Tensor& value);

protected:
  /// Binds a value of a known type.
  virtual Atom bind(const Expr* value, const Type*) { return block_.bind(value); }

  BlockBuilder& block_;

private:
  /// Fields that were asked for: a tuple, and the field of each number or null.
  std::map<std::pair<Atom, size_t>, Atom> projections_;
};

} // namespace lang
