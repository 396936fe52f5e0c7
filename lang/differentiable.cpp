// Both questions are whether a type leads to a leaf of some kind. Data types may be recursive, and
// each use with other arguments, so the arguments are not put in: a definition is asked once what
// its own fields lead to, and which of its parameters.
#include "lang/differentiable.h"

#include "lang/expr.h"

#include <map>
#include <set>
#include <vector>

namespace lang {

namespace {

using IsLeaf = bool (*)(const Type& type);

/// What the fields of a definition lead to, as far as it is found out.
struct Leads {
  bool toLeaf = false;
  std::set<const TypeParameter*> toParameters = {};

  bool operator==(const Leads&) const = default;
};

class Search {
public:
  explicit Search(IsLeaf isLeaf) : isLeaf_(isLeaf) {}

  bool leadsToLeaf(const Type* type) {
    bool found = leadsOf(type).toLeaf;
    // Definitions are met before those that they mention, so going backwards settles nearly all.
    for (bool changes = true; changes && !found;) {
      size_t met = definitions_.size();
      changes = false;
      for (size_t i = met; i-- > 0;) {
        Leads now = leadsOf(*definitions_[i]);
        Leads& before = known_[definitions_[i]];
        changes |= now != before;
        before = std::move(now);
      }
      found = leadsOf(type).toLeaf;
      changes |= definitions_.size() != met;
    }
    return found;
  }

private:
  Leads leadsOf(const TypeDefinition& definition) {
    Leads leads;
    for (const Constructor* constructor : definition.constructors)
      for (const Type* field : constructor->fields)
        follow(field, leads);
    return leads;
  }

  Leads leadsOf(const Type* type) {
    Leads leads;
    follow(type, leads);
    return leads;
  }

  void follow(const Type* root, Leads& leads) {
    std::vector<const Type*> open = {root};
    std::set<const Type*> seen;
    while (!open.empty()) {
      const Type* type = open.back();
      open.pop_back();
      if (!seen.insert(type).second)
        continue;
      leads.toLeaf |= isLeaf_(*type);
      if (type->kind == TypeKind::Variable)
        leads.toParameters.insert(type->parameter);
      else if (type->isTuple())
        open.insert(open.end(), type->parts.begin(), type->parts.end());
      else if (type->kind == TypeKind::Data)
        followData(*type, leads, open);
    }
  }

  void followData(const Type& type, Leads& leads, std::vector<const Type*>& open) {
    auto [place, isNew] = known_.try_emplace(type.definition);
    if (isNew)
      definitions_.push_back(type.definition);
    leads.toLeaf |= place->second.toLeaf;
    for (size_t i = 0; i < type.parts.size(); ++i)
      if (place->second.toParameters.contains(type.definition->generics[i]))
        open.push_back(type.parts[i]);
  }

  IsLeaf isLeaf_;
  std::map<const TypeDefinition*, Leads> known_;
  /// In the order in which they were met; it grows while they are asked.
  std::vector<const TypeDefinition*> definitions_;
};

} // namespace

bool holdsFloats(const Type* type) {
  return Search([](const Type& part) { return part.isTensor() && part.dtype.isFloat(); })
      .leadsToLeaf(type);
}

bool holdsFunctions(const Type* type) {
  return Search([](const Type& part) {
           return part.kind == TypeKind::Function || part.kind == TypeKind::Operator ||
                  part.kind == TypeKind::Reference;
         })
      .leadsToLeaf(type);
}

} // namespace lang
