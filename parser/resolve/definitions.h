// The definitions that a program can see: its own, and behind them those of the prelude, of which
// only the ones that are mentioned enter the module.
#pragma once

#include "parser/resolve/resolve.h"

#include <unordered_map>

namespace parser {

/// A definition of a data type on its way into the module.
struct TypeEntry {
  const surface::TypeDefinition* surface = nullptr;
  const lang::TypeDefinition* definition = nullptr;
};

struct ConstructorEntry {
  const surface::TypeDefinition* owner = nullptr;
  size_t index = 0;
};

struct GlobalEntry {
  const surface::FunctionDefinition* surface = nullptr;
  lang::Global* global = nullptr;
};

/// The definitions of the program, or those of the prelude.
struct Unit {
  bool isPrelude = false;
  surface::Notation notation = surface::Notation::Relay;
  std::unordered_map<std::string_view, TypeEntry> types;
  std::unordered_map<std::string_view, ConstructorEntry> constructors;
  std::unordered_map<std::string_view, GlobalEntry> globals;
  std::unordered_map<std::string_view, const surface::ConstantDefinition*> constants;
};

/// Both units, and what of them still has to be resolved.
class Definitions {
public:
  Definitions(lang::Module& module, lang::Diagnostics& diagnostics)
      : module_(module), diagnostics_(diagnostics) {}

  /// Lists the definitions of a file; a program's own enter the module at once.
  void declare(const surface::File& file, bool isPrelude);

  // Look-ups from a definition of `from`, which sees its own unit first. Null when there is none.
  /// The alias of that name, which is no type of its own.
  const surface::TypeDefinition* findAlias(const Unit& from, std::string_view name) const;
  const lang::TypeDefinition* findType(const Unit& from, std::string_view name);
  const lang::Constructor* findConstructor(const Unit& from, std::string_view name);
  const lang::Global* findGlobal(const Unit& from, std::string_view name);
  /// The definition of a global as its text has it.
  const surface::Function& surfaceOf(const lang::Global& global) const {
    return *surfaces_.at(&global);
  }
  /// How many fields the text gives a constructor, known before the fields are resolved.
  size_t fieldCount(const lang::Constructor& constructor) const {
    return fieldCounts_.at(&constructor);
  }

  struct PendingType {
    const Unit* unit;
    const surface::TypeDefinition* surface;
    lang::TypeDefinition* definition;
  };
  struct PendingFunction {
    const Unit* unit;
    const surface::Function* surface;
    lang::Global* global;
  };
  /// What entered the module and has no fields or body yet; the caller empties the lists.
  std::vector<PendingType> pendingTypes;
  std::vector<PendingFunction> pendingFunctions;

  const Unit& program() const { return program_; }
  const Unit& prelude() const { return prelude_; }
  std::vector<std::string_view> typeNames() const;
  std::vector<std::string_view> constructorNames() const;
  std::vector<std::string_view> globalNames() const;

  /// Puts what came from the prelude in front of the program's own definitions.
  void finish();

private:
  void declareType(Unit& unit, const surface::TypeDefinition& type);
  void declareFunction(Unit& unit, const surface::FunctionDefinition& function);
  void declareConstant(Unit& unit, const surface::ConstantDefinition& constant);
  const lang::TypeDefinition* enterType(Unit& unit, TypeEntry& entry);
  lang::Global* enterGlobal(Unit& unit, GlobalEntry& entry);

  lang::Module& module_;
  lang::Diagnostics& diagnostics_;
  Unit program_;
  Unit prelude_{.isPrelude = true};
  std::unordered_map<const lang::Constructor*, size_t> fieldCounts_;
  std::unordered_map<const lang::Global*, const surface::Function*> surfaces_;
  std::vector<const lang::TypeDefinition*> preludeTypes_;
  std::vector<const lang::Global*> preludeGlobals_;
};

} // namespace parser
