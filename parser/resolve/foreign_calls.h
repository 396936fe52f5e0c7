// Names, methods and types as other languages and libraries have them, and how they are written
// here. Changes are guesses, which are tried before they are shown.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// Whether dots join a name that begins with a library of another language, as `torch.relu`.
bool isOfForeignLibrary(const ResolveContext& context, const surface::Expr* expr);

/// Reports a name that means nothing here and something elsewhere. False for other names.
bool reportForeignName(ResolveContext& context, std::string_view name, lang::SourceRange range);

/// The same for a call of such a name, as `len(x)`.
bool reportForeignCall(ResolveContext& context, const surface::Call& call);

/// The same for a call like a method that is none whatever it is called on, as `x.T()`.
bool reportForeignMethod(ResolveContext& context, const surface::Call& call);

/// What is to be said of `x.sum()`, `x.shape[0]` and `x.shape` where `x` has no such field; null
/// where that is no habit.
const lang::FieldHint* hintOfMethod(ResolveContext& context, const surface::Call& call);
const lang::FieldHint* hintOfShape(ResolveContext& context, const surface::Index& index);
const lang::FieldHint* hintOfField(ResolveContext& context, const surface::Field& field);

/// Reports a type of another language. False for other types.
bool reportForeignType(ResolveContext& context, const surface::NamedType& type);

/// Reports `x[None]`, which puts in a dimension elsewhere. False for other subscripts.
bool reportNewDimension(ResolveContext& context, const surface::Index& index, size_t place);

} // namespace parser
