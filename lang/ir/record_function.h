// What a record means that is called, in Baton's notation: `p.hidden(x)` for `linear(p.hidden, x)`.
#pragma once

#include <string>
#include <string_view>

namespace lang {

/// The name of the function that a call of a record means, by that of its type, in the same module:
/// `layer_norm` for `LayerNorm`, `nn/linear` for `nn/Linear`.
std::string recordFunctionName(std::string_view type);

/// The name of the global that stands, in a module that is not completed, for the default of a
/// parameter of such a function: one without parameters, which gives it.
std::string recordDefaultName(std::string_view function, std::string_view parameter);

} // namespace lang
