// Comparing the whole result of a run with its type: what lies in data types and references comes
// out of it, so this is the last place to look.
//
// Fields of data types are written in type parameters. No types are made for their uses: a type is
// looked at together with what the parameters in it stand for.
#include "lang/calls/run_checks.h"
#include "lang/calls/run_value.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace lang {

using runtime::Value;
using runtime::ValueKind;

namespace {

struct Meanings;

/// A type, and what the type parameters in it stand for; null where it has none of its own.
struct Meant {
  const Type* type;
  const Meanings* meanings;
  auto operator<=>(const Meant&) const = default;
};

/// What the type parameters of a data type stand for at one use of it.
struct Meanings {
  const TypeDefinition* definition;
  std::vector<Meant> arguments;
};

/// Whether tensors of a known size can be anywhere in values of the type.
bool holdsSizes(const Type* root) {
  std::set<const Type*> seen{root};
  std::vector<const Type*> open{root};
  auto add = [&](const Type* type) {
    if (type && seen.insert(type).second)
      open.push_back(type);
  };
  while (!open.empty()) {
    const Type& type = *open.back();
    open.pop_back();
    if (!std::ranges::all_of(type.shape, &Dim::isAny))
      return true;
    if (type.kind == TypeKind::Function)
      continue;
    std::ranges::for_each(type.parts, add);
    if (type.kind == TypeKind::Data)
      for (const Constructor* constructor : type.definition->constructors)
        std::ranges::for_each(constructor->fields, add);
  }
  return false;
}

class Walk {
public:
  Walk(const Type& type, const Value& value, RunChecks& checks, const checks::KnownSizes& sizes)
      : checks_(checks), sizes_(sizes) {
    add({&type, nullptr}, value);
  }

  std::optional<WholeMisfit> findMisfit() {
    while (!open_.empty()) {
      auto [meant, value] = open_.back();
      open_.pop_back();
      if (meant.type->isTensor() ? !fits(meant, *value) : !addParts(meant, *value))
        return WholeMisfit{meant.type, value};
    }
    return std::nullopt;
  }

private:
  /// Names mean something in the type of the result alone.
  bool fits(const Meant& meant, const Value& value) {
    if (value.kind() != ValueKind::Tensor)
      return false;
    auto [declared, isNew] = declared_.try_emplace(meant.type);
    if (isNew)
      declared->second = checks_.declarations().type(*meant.type);
    auto dims =
        checks::misfits(declared->second, value.tensor().dtype(), value.tensor().shape(),
                        checks_.tables().sizes, meant.meanings ? checks::KnownSizes() : sizes_);
    return dims && dims->empty();
  }

  bool addParts(const Meant& meant, const Value& value) {
    const Type& type = *meant.type;
    switch (value.kind()) {
    case ValueKind::Tuple:
      for (size_t i = 0; type.isTuple() && i < type.parts.size(); ++i)
        add({type.parts[i], meant.meanings}, value.fields()[i]);
      return type.isTuple() || type.definition == &storageDefinition;
    case ValueKind::Constructor:
      if (type.kind == TypeKind::Data)
        addFields(constructorOf(value), meaningsOf(meant), value);
      return type.kind == TypeKind::Data;
    case ValueKind::Reference:
      if (type.kind == TypeKind::Reference)
        add({type.parts[0], meant.meanings}, value.content());
      return type.kind == TypeKind::Reference;
    case ValueKind::Tensor:
      return type.kind == TypeKind::Variable || type.kind == TypeKind::Unknown;
    default:
      return true;
    }
  }

  void addFields(const Constructor& constructor, const Meanings* meanings, const Value& value) {
    for (size_t i = 0; i < constructor.fields.size(); ++i)
      add({constructor.fields[i], meanings}, value.fields()[i]);
  }

  /// What is shared is looked at once for each place that holds it and each type: parts of a large
  /// value can be the same, and a cell can hold itself.
  void add(Meant meant, const Value& value) {
    meant = resolved(meant);
    if (!value.isShared() || seen_.emplace(&value, meant).second)
      open_.emplace_back(meant, &value);
  }

  static Meant resolved(Meant meant) {
    while (meant.type->kind == TypeKind::Variable && meant.meanings) {
      const auto& generics = meant.meanings->definition->generics;
      auto found = std::ranges::find(generics, meant.type->parameter);
      if (found == generics.end())
        break;
      meant = meant.meanings->arguments[size_t(found - generics.begin())];
    }
    return meant;
  }

  /// What the parameters of a data type stand for; equal uses share one, so a long list has one.
  const Meanings* meaningsOf(const Meant& data) {
    std::vector<Meant> arguments;
    for (const Type* argument : data.type->parts)
      arguments.push_back(resolved({argument, data.meanings}));
    auto key = std::pair(data.type->definition, arguments);
    auto [found, isNew] = meanings_.try_emplace(std::move(key), nullptr);
    if (isNew) {
      kept_.push_back({data.type->definition, std::move(arguments)});
      found->second = &kept_.back();
    }
    return found->second;
  }

  RunChecks& checks_;
  const checks::KnownSizes& sizes_;
  std::unordered_map<const Type*, checks::Declared> declared_;
  std::vector<std::pair<Meant, const Value*>> open_;
  std::set<std::pair<const Value*, Meant>> seen_;
  std::map<std::pair<const TypeDefinition*, std::vector<Meant>>, const Meanings*> meanings_;
  std::deque<Meanings> kept_;
};

} // namespace

std::optional<WholeMisfit> findWholeMisfit(const Type& type, const Value& value, RunChecks& checks,
                                           const checks::KnownSizes& sizes) {
  if (!holdsSizes(&type))
    return std::nullopt;
  return Walk(type, value, checks, sizes).findMisfit();
}

ResultType resultOf(const Function& entry, const Typing& typing) {
  return {typing.result(entry), entry.resultAnnotation != nullptr, entry.body->result.range};
}

checks::KnownSizes sizesOf(const Function& entry, std::span<const Value> arguments,
                           RunChecks& checks) {
  checks::KnownSizes sizes;
  uint32_t number = checks.function(entry);
  if (number != checks::none)
    checks::learnSizes(checks.tables().functions[number], checks.tables().sizes, arguments, sizes);
  return sizes;
}

std::optional<runtime::RunFault> checkWhole(const Function& entry, const ResultType& result,
                                            const Value& value, RunChecks& checks,
                                            const checks::KnownSizes& sizes) {
  auto whole = result.type ? findWholeMisfit(*result.type, value, checks, sizes) : std::nullopt;
  if (!whole)
    return std::nullopt;
  checks::Declared wanted = checks.declarations().type(*whole->type);
  const checks::Tables& tables = checks.tables();
  uint32_t number = checks.function(entry);
  return checks::wholeFault(number == checks::none ? nullptr : &tables.functions[number], wanted,
                            spelled(whole->type).settled(), result.isDeclared, *whole->value,
                            tables.sizes, sizes, result.range);
}

} // namespace lang
