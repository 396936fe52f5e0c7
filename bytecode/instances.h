// Which functions a program has: instances of functions and constructors, asked for as they are
// met.
#pragma once

#include "bytecode/compile.h"
#include "bytecode/usage.h"

#include <deque>
#include <map>

namespace bytecode {

/// A function to compile. A closure gets its own object behind the arguments and owns all of them.
/// Without `function` it applies a constructor, or, with `forwards`, calls the generic closure that
/// it captured by another signature.
struct Instance {
  const lang::Function* function = nullptr;
  const lang::Constructor* constructor = nullptr;
  const lang::Global* global = nullptr;
  Environment environment = {};
  bool isClosure = false;
  /// The variable that a local function is bound to, as which it may call itself.
  const lang::Var* self = nullptr;
  uint16_t closureLayout = 0;
  /// Of what is no function of the text.
  std::vector<Rep> parameters = {};
  Rep result = {};
  std::optional<uint16_t> forwards = {};
  uint32_t number = 0;
};

class Instances {
public:
  Instances(const lang::Module& module, const lang::Typing& typing,
            const lang::OperatorTable& table, std::span<const lang::Global* const> entries,
            Compiled& made);

  /// Compiles all that was asked for, and what that asks for.
  void compileAll();

  /// The number of a global's instance that is called by name.
  uint32_t ofGlobal(const lang::Global& global, Environment environment);
  /// The layout of closures of a function: a local one, or a global. A generic one can be called by
  /// every signature that is met.
  uint16_t closureLayout(const lang::Function& function, const lang::Global* global,
                         const lang::Var* self, std::vector<Rep> captured, Environment environment);
  /// The layout of a function with its type parameters given, or of a constructor.
  uint16_t givenLayout(const lang::Global& global, Environment environment);
  uint16_t genericMakerLayout(const lang::Constructor& constructor);
  uint16_t makerLayout(const lang::Constructor& constructor, const lang::Type* type,
                       const Environment& environment);
  /// The layout of closures that call a generic closure as if it had this type.
  uint16_t forwarderLayout(uint16_t from, uint16_t to, std::vector<Rep> parameters, Rep result);
  /// The signature of calls of functions of a type; `generics` are what its own stand for.
  uint16_t signature(const lang::Type* function, const Environment& environment,
                     const Environment& generics);

  const std::vector<bool>& ownedParameters(const lang::Global& global) const {
    return owned_[global.number];
  }
  /// Whether a call of it by name gives the fields of its tuple.
  bool isFlat(const lang::Global& global) const { return flat_[global.number]; }
  Rep rep(const lang::Type* type, const Environment& environment) const {
    return made.layouts.rep(type, environment);
  }

  const lang::Module& module;
  const lang::Typing& typing;
  const lang::OperatorTable& table;
  Compiled& made;
  const std::vector<std::vector<const lang::Var*>> freeVariables;

private:
  using Key = std::pair<const void*, std::vector<uint32_t>>;

  uint32_t request(Instance instance);
  /// A layout of a generic function, for each signature of as many generics.
  struct Generic {
    uint16_t layout;
    Instance instance;
  };
  struct GenericSignature {
    uint16_t number;
    std::vector<Rep> generics;
  };
  void addEntry(const Generic& generic, const GenericSignature& signature);
  void addMonomorphic(uint16_t layout, Instance instance);
  std::vector<Rep> parametersOf(const Instance& instance) const;

  std::map<Key, uint32_t> known_;
  std::deque<Instance> waiting_;
  std::vector<Generic> generics_;
  std::vector<GenericSignature> signatures_;
  OwnedParameters owned_;
  std::vector<bool> flat_;
};

} // namespace bytecode
