// Definitions whose types their uses decide.
//
// In Baton's notation a definition may leave open what its parameters are, and still apply
// operators to them, which have no type for everything. Such a definition is checked anew for the
// types of each use: as an instance, a copy of it and of those that it is recursive with, whose
// parameters are declared. Equal types share an instance. An instance is a global like any other;
// what is left of the open definition is nothing.
//
// Where a use does not know all types, as of a function literal that it passes, its instance is of
// this use alone, and inferred as a part of the definition that the use is in.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"
#include "typecheck/unify.h"

#include <map>
#include <unordered_set>

namespace typecheck {

/// A use of an open definition at types.
struct InstanceKey {
  const lang::Global* definition;
  /// Of each parameter the type; null in the instance of one use. Of a definition that reads sizes
  /// of its result, that of the result behind them.
  std::vector<const Type*> types;
  /// Which of them are open numbers, whose element types mean nothing.
  std::vector<OpenClass> classes;
  /// Of each parameter that is a size in the definition, or a list of them, the numbers that it is;
  /// none of others.
  std::vector<std::vector<const Dim*>> sizes;

  auto operator<=>(const InstanceKey&) const = default;
};

struct Instance {
  const lang::Global* global = nullptr;
  /// The members of its group that were made with it.
  std::vector<const lang::Global*> group;
  /// Whether its inference was begun, and whether that has come to an end.
  bool isBegun = false, isDone = false;
  /// What is wrong with it, told where it is asked for.
  std::optional<lang::Diagnostic> problem;
};

class OpenDefinitions {
public:
  OpenDefinitions(lang::Module* module, const lang::OperatorTable& operators, Unifier& unifier)
      : module_(module), operators_(operators), unifier_(unifier) {}

  /// Whether the module may get instances.
  bool mayGrow() const { return module_ != nullptr; }
  /// Lets a group be open; every member of it is. Where what it uses asks for sizes of the results,
  /// `readsResults`, all of these are read that parameters do not tell.
  void add(std::span<const lang::Global* const> group, bool readsResults);
  bool isOpen(const lang::Global& global) const { return groups_.contains(&global); }
  /// The sizes that a definition reads and only its result tells. Its uses tell them, so it is open
  /// where there are any.
  std::span<const Dim* const> sizesOfResult(const lang::Global& global);

  /// For each parameter whether it is a size in the definition.
  const std::vector<bool>& countedParameters(const lang::Global& global);

  /// The instance for operands of these types, of which `sizes` are the numbers that are known of
  /// counted parameters; made if there is none yet. It is done when it has been
  /// inferred. Null when there are too many.
  Instance* find(const lang::Global& global, std::span<const Type* const> operands,
                 std::vector<std::vector<const Dim*>> sizes);
  /// A copy of a function without parameters, whose numbers are open anew.
  const lang::Function& copyOf(const lang::Function& value);
  /// The instance of one use alone; null where that has none.
  const Instance* ownOf(const void* mention) const {
    auto found = own_.find(mention);
    return found == own_.end() ? nullptr : &found->second;
  }
  /// Makes it. Null when there are too many.
  const Instance* makeOwn(const void* mention, const lang::Global& global,
                          std::vector<std::vector<const Dim*>> sizes);
  /// Whether a function is of an instance of one use.
  bool isOwn(const lang::Function& function) const { return ownFunctions_.contains(&function); }

  /// The first parameter that a definition, or that of an instance, leaves open; null if none is.
  const lang::Var* openParameter(const lang::Global& global) const;
  /// What a definition is in the instance that `instance` is a member of; itself where it is none
  /// of the group.
  const lang::Global& memberOf(const lang::Global& instance, const lang::Global& definition) const;

  /// The shape of a parameter that is an open number in an instance, and its class.
  struct NumberParameter {
    lang::Dims shape;
    OpenClass its;
  };
  const NumberParameter* numberParameter(const lang::Var& parameter) const {
    auto found = parameters_.numbers.find(&parameter);
    return found == parameters_.numbers.end() ? nullptr : &found->second;
  }
  /// The numbers that a parameter of an instance is as a size or a list of sizes; none where that
  /// is not known.
  std::span<const Dim* const> knownSizes(const lang::Var& parameter) const {
    auto found = parameters_.sizes.find(&parameter);
    return found == parameters_.sizes.end() ? std::span<const Dim* const>() : found->second;
  }

  /// Puts the instances behind the definitions that they are of. Those that were not finished, or
  /// not well, go: a use asked for them before it knew its operands, and took another one.
  void orderInstances();

  /// Remembers the instance that a mention of an open definition stands for: an operand, or a
  /// binding whose value it is.
  void use(const void* mention, const lang::Global* instance) { uses_[mention] = instance; }
  /// The instance for a mention; null for anything else.
  const lang::Global* usedBy(const void* mention) const {
    auto found = uses_.find(mention);
    return found == uses_.end() ? nullptr : found->second;
  }

private:
  using Group = std::vector<const lang::Global*>;
  using Sizes = std::unordered_set<const Dim*>;

  Sizes sizesOnlyOfResult(const lang::Function& function);

  Instance make(const InstanceKey& key, bool isOwn = false);
  std::string nameFor(const lang::Global& global);

  lang::Module* module_;
  const lang::OperatorTable& operators_;
  Unifier& unifier_;
  std::unordered_map<const lang::Global*, std::shared_ptr<const Group>> groups_;
  std::map<InstanceKey, Instance> instances_;
  std::unordered_map<const void*, Instance> own_;
  std::unordered_set<const lang::Function*> ownFunctions_;
  std::unordered_map<const void*, const lang::Global*> uses_;
  std::unordered_map<const lang::Global*, std::vector<const Dim*>> sizesOfResults_;
  /// Of each member of an instance, its group and those members that were made of it.
  std::unordered_map<const lang::Global*, std::pair<std::shared_ptr<const Group>, Group>> members_;
  struct Names {
    /// How many instances each definition has, and the names of globals.
    std::unordered_map<const lang::Global*, size_t> counts;
    std::unordered_set<std::string_view> taken;
  };
  Names names_;
  /// What uses tell of parameters of instances beside their types.
  struct Parameters {
    std::unordered_map<const lang::Var*, NumberParameter> numbers;
    std::unordered_map<const lang::Var*, std::vector<const Dim*>> sizes;
  };
  Parameters parameters_;
  std::unordered_map<const lang::Global*, std::vector<bool>> counted_;
};

} // namespace typecheck
