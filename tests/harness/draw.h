// Random operand types and attributes for the rows of the operator table.
//
// What is drawn need not fit together: the row's relation decides. Operands are drawn equal now and
// then, since most rows want operands that go together.
#pragma once

#include "lang/op/op.h"
#include "tests/harness/random.h"

namespace harness {

/// Draws operands and attributes. `symbols` are dimensions to be used beside numbers.
class OperatorDraw {
public:
  OperatorDraw(lang::TypeContext& types, Random& random, lang::Dims symbols = {})
      : types_(types), random_(random), symbols_(symbols) {}

  /// A type for an operand of that row: a tensor, or a tuple of tensors.
  const lang::Type* operand(const lang::OperandRow& row);
  /// A value for an attribute, `usual` or another; texts and lists are kept in `arena`.
  lang::AttributeValue attribute(runtime::Arena& arena, const lang::AttributeRow& row,
                                 const lang::AttributeValue& usual);
  /// A tensor of rank 0 to 5 and extents 0 to 5.
  const lang::Type* freshTensor();
  const lang::Dim* dim();
  runtime::DType dtype();

private:
  const lang::Type* tensor();

  template <typename Make>
  lang::AttributeValue list(runtime::Arena& arena, Make make);

  lang::TypeContext& types_;
  Random& random_;
  lang::Dims symbols_;
  const lang::Type* last_ = nullptr;
};

/// An attribute's value as the text format writes it.
std::string attributeText(const lang::AttributeValue& value);

} // namespace harness
