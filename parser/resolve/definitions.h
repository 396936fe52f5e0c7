// The definitions that a program can see: its own, those of what it imports, and behind them those
// of the prelude. Of the prelude and of libraries only the ones that are mentioned enter the
// module.
#pragma once

#include "parser/resolve/resolve.h"

#include <array>
#include <deque>
#include <optional>
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

/// The definitions of the program, of a text that is imported, or of the prelude.
struct Unit {
  bool isPrelude = false;
  /// What names of its definitions begin with in the module.
  std::string prefix = {};
  /// Null for the prelude, of which there are several.
  const lang::SourceFile* source = nullptr;
  surface::Notation notation = surface::Notation::Relay;
  std::unordered_map<std::string_view, TypeEntry> types;
  std::unordered_map<std::string_view, ConstructorEntry> constructors;
  std::unordered_map<std::string_view, GlobalEntry> globals;
  std::unordered_map<std::string_view, const surface::ConstantDefinition*> constants;
  /// By the names that imports give them; null for a text that could not be had.
  std::unordered_map<std::string_view, Unit*> imports = {};
};

/// An alias, and the unit that it is in.
struct AliasEntry {
  const Unit* unit = nullptr;
  const surface::TypeDefinition* surface = nullptr;
};

/// A name behind that of an import, `optim.adam`.
struct ImportedName {
  /// Null for a text that could not be had.
  Unit* unit = nullptr;
  std::string_view name;
};

/// All units, and what of them still has to be resolved.
class Definitions {
public:
  Definitions(lang::Module& module, lang::Diagnostics& diagnostics)
      : module_(module), diagnostics_(diagnostics) {}

  /// Lists the definitions of the prelude.
  void declarePrelude(const surface::File& file);
  /// Lists those of a program, which enter the module at once, and of what it imports.
  void declareProgram(const surface::File& file, const lang::SourceFile& source,
                      const Imports* imports);

  // Look-ups from a definition of `from`, which sees its own unit first. Null when there is none.
  /// What a name with a dot means where an import is called by what stands in front of it.
  static std::optional<ImportedName> imported(const Unit& from, std::string_view name);
  /// The alias of that name, which is no type of its own.
  AliasEntry findAlias(const Unit& from, std::string_view name) const;
  const lang::TypeDefinition* findType(const Unit& from, std::string_view name);
  const lang::Constructor* findConstructor(const Unit& from, std::string_view name);
  /// Lets a function of the prelude that the program hides by one of its own be part of it, for a
  /// program that names it by `prelude`.
  void showOfPrelude(std::string_view name);
  const lang::Global* findGlobal(const Unit& from, std::string_view name);
  /// A data type as its text has it; null for one that has none.
  const surface::TypeDefinition* surfaceOf(const lang::TypeDefinition& type) const {
    auto found = typeOrigins_.find(&type);
    return found == typeOrigins_.end() ? nullptr : found->second.surface;
  }
  /// The unit of a data type that has a text.
  const Unit& unitOf(const lang::TypeDefinition& type) const {
    return *typeOrigins_.at(&type).unit;
  }
  /// The definition of a global as its text has it.
  const surface::Function& surfaceOf(const lang::Global& global) const {
    return *origins_.at(&global).surface;
  }
  const Unit& unitOf(const lang::Global& global) const { return *origins_.at(&global).unit; }
  /// How many fields the text gives a constructor, known before the fields are resolved.
  size_t fieldCount(const lang::Constructor& constructor) const {
    return surfaceOf(*constructor.definition)->constructors[constructor.index].fields.size();
  }

  /// Adds a definition to a unit that its text does not have.
  void addTo(const Unit& unit, const surface::FunctionDefinition& function) {
    declareFunction(const_cast<Unit&>(unit), function);
  }
  /// Adds a function to the program that no name means.
  lang::Global* addNameless(std::string_view name, lang::SourceRange range);

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
  /// What texts of Baton's notation see behind the prelude; null where there is nothing.
  const Unit* common() const { return common_; }
  std::vector<std::string_view> typeNames() const;
  std::vector<std::string_view> constructorNames() const;
  std::vector<std::string_view> globalNames() const;

  /// Puts definitions into the module: the prelude's, those of imports, and the program's own.
  void finish();

private:
  /// Definitions that will stand in front of the program's own.
  struct Others {
    std::vector<const lang::TypeDefinition*> types;
    std::vector<const lang::Global*> globals;
  };
  std::vector<const lang::TypeDefinition*>& typesOf(const Unit& unit) {
    return &unit == &program_ ? module_.typeDefinitions : othersOf(unit).types;
  }
  std::vector<const lang::Global*>& globalsOf(const Unit& unit) {
    return &unit == &program_ ? module_.globals : othersOf(unit).globals;
  }
  Others& othersOf(const Unit& unit) { return unit.isPrelude ? ofPrelude_ : ofImports_; }

  void declare(Unit& unit, const surface::File& file);
  void declareImports(Unit& unit, const surface::File& file, const Imports& imports);
  void enterAll(Unit& unit, const surface::File& file);
  /// Where a name is looked for, first to last; of one behind that of an import, only what is
  /// behind the dot is left.
  std::array<Unit*, 2> searched(const Unit& from, std::string_view& name);
  std::string_view nameIn(const Unit& unit, std::string_view name);
  void declareType(Unit& unit, const surface::TypeDefinition& type);
  void declareFunction(Unit& unit, const surface::FunctionDefinition& function);
  void declareConstant(Unit& unit, const surface::ConstantDefinition& constant);
  const lang::TypeDefinition* enterType(Unit& unit, TypeEntry& entry);
  lang::Global* makeGlobal(std::string_view name, lang::SourceRange range);
  lang::Global* enterGlobal(Unit& unit, GlobalEntry& entry);

  lang::Module& module_;
  lang::Diagnostics& diagnostics_;
  Unit program_;
  Unit prelude_{.isPrelude = true};
  /// In the order of the texts that are imported.
  std::deque<Unit> imported_;
  const Unit* common_ = nullptr;
  std::unordered_map<const lang::Global*, PendingFunction> origins_;
  std::unordered_map<const lang::TypeDefinition*, PendingType> typeOrigins_;
  Others ofPrelude_, ofImports_;
};

} // namespace parser
