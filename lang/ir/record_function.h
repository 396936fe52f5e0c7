// What a record means that is called, in Baton's notation: `p.hidden(x)` for `linear(p.hidden, x)`.
#pragma once

#include <string>
#include <string_view>

namespace lang {

/// The name of the function that a call of a record means, by that of its type, in the same module:
/// `layer_norm` for `LayerNorm`, `nn/linear` for `nn/Linear`.
std::string recordFunctionName(std::string_view type);

} // namespace lang
