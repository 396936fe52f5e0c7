// Sizes with names where values or attributes are wanted. A size is known when the program runs, an
// attribute before; so what helps is an operator that takes the size from a tensor.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// A local in scope whose declared type has a size of that name; null when there is none.
const lang::Var* localWithSize(const ResolveContext& context, std::string_view name);

/// What to do about a size where a value is wanted.
void hintAtSizeValue(lang::Diagnostic& report, const ResolveContext& context, std::string_view name,
                     const lang::Var& local);

/// The first name in an attribute's value that means a size; null when there is none.
const surface::Name* sizeIn(const ResolveContext& context, const surface::AttributeValue& value);

/// What to do about a size in an attribute of a call.
void hintAtSizeAttribute(lang::Diagnostic& report, const ResolveContext& context,
                         const lang::OperatorRow& row, const surface::Call& call,
                         const surface::Attribute& attribute, const surface::Name& size);

/// That attributes hold no computed values, and which operators take them as operands.
void noteComputed(lang::Diagnostic& report, const ResolveContext& context,
                  const lang::OperatorRow& row);

} // namespace parser
