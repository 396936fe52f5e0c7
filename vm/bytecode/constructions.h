// Which blocks make objects, by how many fields these have, so that memory is found a use.
#pragma once

#include "lang/ir/expr.h"

#include <cstdint>
#include <unordered_map>

namespace bytecode {

/// How many fields the object has that an expression makes; 0 when it makes none.
size_t fieldsMade(const lang::Expr& value);

class Constructions {
public:
  /// The first binding of a block, from `from` on, that makes an object of so many fields, or else
  /// the last one that does so in a nested block; the number of bindings when none does. Calls of
  /// constructors and tuples count; objects of very many fields do not.
  size_t find(const lang::Block& block, size_t from, size_t fields);

private:
  static constexpr size_t mostFields = 63;

  uint64_t sizesIn(const lang::Block& block);

  /// Bit `n`: an object of `n` fields is made in the block or in one inside of it.
  std::unordered_map<const lang::Block*, uint64_t> sizes_;
};

} // namespace bytecode
