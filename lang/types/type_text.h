// What the printer must know of a type before it writes it. A type is a graph of shared parts and
// its text can be exponentially longer, so size and contents are found once per part.
#pragma once

#include "lang/types/type.h"

#include <unordered_map>

namespace lang::printing {

/// The longest text of a type that is written out; typeText cuts off there.
inline constexpr size_t longestTypeText = size_t(1) << 16;

class TypeFacts {
public:
  /// True when a comment can show the type: it is known throughout and not too long.
  bool isShown(const Type* type);

private:
  struct Facts {
    size_t size = 0;
    bool isKnown = true;
  };
  const Facts& of(const Type* type);
  Facts combine(const Type& type) const;
  void add(Facts& facts, const Type* part) const;

  std::unordered_map<const Type*, Facts> facts_;
};

} // namespace lang::printing
