// Inputs of tuples and data types as both notations write them: `(1, [1, 2])`, `Cons(1, Nil)`,
// `list(1, 2)`, `Some(True)`; and what stands for values in texts of them.
#pragma once

#include "driver/values/builder.h"

#include <string_view>

namespace driver {

/// A text without its comments, which blanks take the place of.
std::string withoutComments(std::string_view text);

/// The tensor that a text without comments stands for, which is wanted next.
using ReadLeaf = std::function<runtime::Result<runtime::Tensor>(std::string_view)>;

/// Reads what comes next from a text without comments; `leaf` reads the tensors in it.
runtime::Result<runtime::Done> readValueText(std::string_view text, ValueBuilder& builder,
                                             const ReadLeaf& leaf);

/// The same of a text whose tensors are literals, which are put to `accept`.
runtime::Result<runtime::Done> readValueLiteral(std::string_view text, ValueBuilder& builder,
                                                const AcceptTensor& accept);

} // namespace driver
