// Which functions a program has: instances of functions and constructors, asked for as they are
// met.
#pragma once

#include "lang/op/declared.h"
#include "vm/bytecode/compile.h"
#include "vm/bytecode/usage.h"

#include <deque>
#include <map>
#include <set>

namespace bytecode {

/// A function to compile. A closure gets its own object behind the arguments and owns all of them.
/// Without `function` it applies a constructor.
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
  uint32_t number = 0;
};

class Instances {
public:
  Instances(const lang::Module& module, const lang::Typing& typing,
            const lang::OperatorTable& table, std::span<const lang::Global* const> entries,
            bool boxesScalars, Compiled& made);

  /// Compiles all that was asked for, and what that asks for.
  void compileAll();

  /// The number of a global's instance that is called by name.
  uint32_t ofGlobal(const lang::Global& global, Environment environment);
  /// The layout of closures of a function: a local one, or a global. A generic one can be called by
  /// every signature that is met, also where it is called as a function of one type.
  uint16_t closureLayout(const lang::Function& function, const lang::Global* global,
                         const lang::Var* self, std::vector<Rep> captured, Environment environment);
  /// The layout of a function with its type parameters given, or of a constructor; that of a
  /// generic constructor where the type hides what those stand for.
  uint16_t givenLayout(const lang::Global& global, Environment environment);
  uint16_t genericMakerLayout(const lang::Constructor& constructor);
  uint16_t makerLayout(const lang::Constructor& constructor, const lang::Type* type,
                       const Environment& environment);
  /// The type of a function as it was declared or found.
  const lang::Type* declaredType(const lang::Function& function) const;
  /// How the type parameters of a callee are represented that stand for types.
  Environment representations(const TypeArguments& found, const Environment& outer) const;
  /// See type_arguments.h.
  Environment typeArguments(const lang::Type* callee, lang::Types arguments,
                            const lang::Type* result, const Environment& outer) const;
  /// Says that functions of the types within `type` go where their type may be hidden.
  void see(const lang::Type* type, const Environment& environment);
  /// Whether nothing tells which instance of a generic closure a call needs, as of a function over
  /// lists of ints and over lists of floats. With boxed scalars there is one.
  bool isAmbiguous() const;
  /// The signature of calls of functions of a type; `generics` are what its own stand for.
  uint16_t signature(const lang::Type* function, const Environment& environment,
                     const Environment& generics);

  const std::vector<bool>& ownedParameters(const lang::Global& global) const {
    return owned_[global.number];
  }
  /// The kernel of a group, or null where calls of it have to compare values or somebody watches
  /// its operators.
  const vm::KernelSite* groupKernel(const lang::Function& group);
  /// Whether it is called from outside alone. Its calls stay below the others, so that a trace
  /// begins there.
  bool isOutermost(const lang::Global& global) const { return outermost_.contains(&global); }
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
    const lang::Type* type;
  };
  struct GenericSignature {
    uint16_t number;
    std::vector<Rep> generics;
  };
  /// A type that closures are called by, in code where its type parameters stand for these.
  struct PlainSignature {
    uint16_t number;
    const lang::Type* function;
    Environment environment;
  };
  void addGeneric(Generic generic);
  void addEntry(const Generic& generic, const GenericSignature& signature);
  void addEntry(const Generic& generic, const PlainSignature& signature);
  bool addSeen();
  bool fits(const Instance& instance, uint16_t signature) const;
  void addFitting(const Generic& generic, Instance instance, uint16_t signature);
  void addMonomorphic(uint16_t layout, Instance instance);
  std::vector<Rep> parametersOf(const Instance& instance) const;

  std::map<Key, uint32_t> known_;
  std::deque<Instance> waiting_;
  std::vector<Generic> generics_;
  std::vector<GenericSignature> signatures_;
  std::vector<PlainSignature> plainSignatures_;
  std::set<std::tuple<const lang::Type*, std::vector<uint32_t>>> plainKeys_, seenKeys_;
  /// What was seen and has had no calls by its signature so far.
  std::vector<std::pair<const lang::Type*, Environment>> seen_;
  /// Layouts with signatures of calls that hide which instance is called.
  std::vector<std::pair<uint16_t, uint16_t>> hidden_;
  std::unordered_map<const lang::Function*, std::optional<vm::KernelSite>> groups_;
  OwnedParameters owned_;
  std::set<const lang::Global*> outermost_;
  std::vector<bool> flat_;
  bool isAmbiguous_ = false;
};

} // namespace bytecode
