// Inputs of tuples and data types on the command line, as the text format writes them:
// `(1, [1, 2])`, `Cons(1, Nil)`, `Some(True)`.
#pragma once

#include "lang/type.h"
#include "runtime/result.h"
#include "runtime/value.h"

#include <functional>

namespace driver {

/// Whether values of the type are written in this way, and not as tensors.
bool isStructured(const lang::Type& type);

/// The value that a text stands for where one of a type is wanted. The tensors in it are put to
/// `accept`, with their types; what it says against one is the error.
runtime::Result<runtime::Value> valueLiteral(
    std::string_view text, const lang::Type* type, lang::TypeContext& types,
    const std::function<runtime::Result<runtime::Done>(const lang::Type*, const runtime::Tensor&)>&
        accept);

} // namespace driver
