// Named sizes in place of numbers: the calls that a rule must take for every size.
#pragma once

#include "lang/types/type.h"
#include "tests/harness/random.h"

#include <map>
#include <vector>

namespace harness {

/// The numbers that names stand for.
using Sizes = std::map<const lang::Dim*, int64_t>;

/// Puts forms in place of the numbers of a call, so that at `sizes` the call is the same again.
class Naming {
public:
  Naming(lang::TypeContext& types, Random& random);

  std::vector<const lang::Type*> name(lang::Types operands);

  Sizes sizes;

private:
  const lang::Dim* formOf(int64_t extent);
  const lang::Dim* fresh(int64_t value);
  const lang::Dim* freshForm(int64_t extent);

  lang::TypeContext& types_;
  Random& random_;
  /// 0 gives every place a name of its own, 1 every number, 2 and 3 forms over few and many names.
  int64_t style_;
  int kept_;
  std::map<int64_t, const lang::Dim*> shared_;
};

} // namespace harness
