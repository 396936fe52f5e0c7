// Forms whose value at the sizes is the number that they replace.
#include "tests/harness/naming.h"

#include "tests/harness/types.h"

#include <fmt/format.h>

namespace harness {

using lang::Dim;
using lang::Type;

Naming::Naming(lang::TypeContext& types, Random& random) : types_(types), random_(random) {
  style_ = random.integer(0, 3);
  kept_ = int(random.integer(0, 2)) * 30;
}

std::vector<const Type*> Naming::name(lang::Types operands) {
  std::vector<const Type*> named;
  for (const Type* operand : operands)
    named.push_back(changeDims(types_, operand, [&](const Dim* dim) {
      return dim->isConstant() ? formOf(dim->value) : dim;
    }));
  return named;
}

const Dim* Naming::formOf(int64_t extent) {
  if (style_ == 0)
    return random_.chance(kept_) ? types_.constant(extent) : fresh(extent);
  const Dim*& shared = shared_[extent];
  if (!shared)
    shared = random_.chance(kept_) ? types_.constant(extent) : freshForm(extent);
  return shared;
}

const Dim* Naming::fresh(int64_t value) {
  const Dim* symbol = types_.symbol(fmt::format("n{}", sizes.size()));
  sizes[symbol] = value;
  return symbol;
}

const Dim* Naming::freshForm(int64_t extent) {
  if (style_ == 1)
    return fresh(extent);
  if (style_ == 2 && !sizes.empty()) {
    auto [symbol, value] = *sizes.begin();
    if (value > 1 && extent % value == 0)
      return types_.multiply(symbol, types_.constant(extent / value));
    return types_.add(symbol, types_.constant(extent - value));
  }
  switch (random_.integer(0, 5)) {
  case 0:
    return extent > 0 ? types_.add(fresh(extent - 1), types_.constant(1)) : fresh(extent);
  case 1:
    return extent % 2 == 0 ? types_.multiply(fresh(extent / 2), types_.constant(2))
                           : types_.subtract(fresh(extent + 1), types_.constant(1));
  case 2:
    return types_.floorDivide(fresh(2 * extent + random_.integer(0, 1)), 2);
  case 3: {
    const Dim* left = fresh(extent);
    return types_.multiply(left, fresh(1));
  }
  case 4: {
    const Dim* left = fresh(extent / 2);
    return types_.add(left, fresh(extent - extent / 2));
  }
  default:
    return fresh(extent);
  }
}

} // namespace harness
