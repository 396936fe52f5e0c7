// Layouts and signatures of a program, each made once.
#pragma once

#include "lang/ir/differentiable.h"
#include "lang/types/type.h"
#include "vm/bytecode/representation.h"

#include <map>
#include <unordered_map>

namespace bytecode {

class Layouts {
public:
  explicit Layouts(vm::Program& program) : program_(program) {}

  /// Knows tuples, cells and data types that the program has already.
  void takeUp();

  /// Whether no scalar lies in a register by itself.
  bool boxesScalars = false;
  /// Whether the program writes into tensors, which kernels would share and use again.
  bool tensorsChange = false;
  Rep rep(const lang::Type* type, const Environment& environment) const {
    return boxesScalars ? reference : repOf(type, environment);
  }
  bool holdsFunctions(const lang::Type* type) { return functions_.leadsToLeaf(type); }
  std::vector<Rep> reps(lang::Types types, const Environment& environment = {}) const;
  /// What the type parameters of a data type stand for in one of its types.
  Environment argumentsOf(const lang::Type* data, const Environment& environment) const;

  uint16_t tuple(std::vector<Rep> fields);
  uint16_t cell(Rep content);
  /// Of the objects that a constructor makes, for a data type with these arguments.
  uint16_t data(const lang::Constructor& constructor, const Environment& arguments);
  /// Of a Closure, Maker or Operator with this symbol; `instance` tells it from others of the same.
  uint16_t function(vm::LayoutKind kind, runtime::Symbol symbol, std::vector<Rep> captured,
                    std::vector<uint32_t> instance = {});

  /// The object of a layout without fields, or of a tensor, that lives as long as the program.
  uint32_t emptyObject(uint16_t layout);
  uint32_t tensorObject(const lang::Constant& constant);

  /// The number of a way to call a closure: parameters, result, and the function's own generics.
  uint16_t signature(std::vector<Rep> parameters, Rep result, std::vector<Rep> generics);
  /// Whether calls by a signature without type parameters were met.
  bool hasSignature(const std::vector<Rep>& parameters, Rep result) const;

private:
  using Key = std::tuple<vm::LayoutKind, const void*, std::vector<uint32_t>>;
  uint16_t intern(vm::Layout layout, std::vector<uint32_t> key);

  vm::Program& program_;
  lang::LeafSearch functions_ = lang::functionSearch();
  std::map<Key, uint16_t> layouts_;
  std::map<std::vector<uint32_t>, uint16_t> signatures_;
  std::unordered_map<uint16_t, uint32_t> emptyObjects_;
  /// Of constants by where their elements are, which those of one tensor share.
  std::unordered_multimap<const void*, uint32_t> tensors_;
};

/// The representations as numbers that tell them apart.
std::vector<uint32_t> numbersOf(const Environment& environment);

} // namespace bytecode
