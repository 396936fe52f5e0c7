// Attributes as the text format writes them: `axis=1`, `epsilon=1e-05f`, `padding=[1, 1]`.
#pragma once

#include "lang/op/attributes.h"
#include "lang/op/declared.h"
#include "lang/print/metadata.h"

namespace lang::printing {

/// Whether a value of a row says the same as its default.
bool isDefaultAttribute(const AttributeRow& row, const AttributeValue& value,
                        const AttributeValue& standard);

/// What values may need to refer to: metadata, and the text of an atom.
struct AttributeWriter {
  MetadataCollector& metadata;
  std::function<std::string(const Expr&)> atomText;

  /// A value that stands for itself, as in the attributes of functions: booleans are 1 and 0.
  std::string value(const AttributeValue& value) const;
  /// Attributes by name, in their order, `virtual_device` last; one text each.
  std::vector<std::string> named(std::span<const NamedAttribute> attributes) const;
  /// The attributes of an operator's call that differ from their defaults, in the order of the
  /// schema; one text each.
  std::vector<std::string> ofOperator(const OperatorRow& row, const Attributes& attributes,
                                      std::span<const AttributeValue> defaults) const;

private:
  std::string rowValue(const AttributeRow& row, const AttributeValue& value) const;
};

} // namespace lang::printing
