// Constructors as function literals, and names for generic definitions put in their places, for
// passes that look into functions.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"

#include <memory>

namespace transform {

/// Whether the function for a constructor is of the one type that its use needs, which lets a pass
/// see what it is made of, or has the type parameters of the constructor, as a use may need.
enum class ConstructorForm : uint8_t { OneType, Generic };

/// A copy of the module in which constructors with fields are only called: elsewhere a function
/// literal stands for each. Lets that only name a generic definition are gone.
std::unique_ptr<lang::Module> withConstructorFunctions(const lang::Module& module,
                                                       const lang::Typing& typing,
                                                       const lang::OperatorTable& operators,
                                                       ConstructorForm form);

} // namespace transform
