// The types of an executable's interface as data: of what its values are made, and in which
// layouts.
#pragma once

#include "vm/bytecode/compile.h"
#include "vm/executable/executable.h"

namespace bytecode {

class Forms {
public:
  /// Adds to the forms of `made`, and layouts and checks to what was compiled.
  Forms(Compiled& compiled, lang::TypeContext& types, executable::Executable& made)
      : compiled_(compiled), types_(types), made_(made) {}

  /// The number of the form of a type.
  uint32_t of(const lang::Type& type);

private:
  uint32_t numberOf(const lang::Type& type);
  void fill(uint32_t number, const lang::Type& type);
  executable::ObjectForm objectOf(uint16_t layout, lang::Types fields);
  void addConstructor(uint32_t number, const lang::Type& data,
                      const lang::Constructor& constructor);

  Compiled& compiled_;
  lang::TypeContext& types_;
  executable::Executable& made_;
  std::unordered_map<const lang::Type*, uint32_t> numbers_;
  /// Types whose forms are not filled.
  std::vector<const lang::Type*> open_;
};

} // namespace bytecode
