// Definitions are asked until none leads to more than before.
#include "lang/ir/leaf_search.h"

#include "lang/ir/expr.h"

namespace lang {

bool LeafSearch::leadsToLeaf(const Type* type) {
  auto [answer, isNew] = answers_.try_emplace(type, false);
  if (isNew) {
    meetDefinitions(type, nullptr);
    settle();
    Leads leads;
    follow(type, leads);
    answer->second = leads.toLeaf;
  }
  return answer->second;
}

void LeafSearch::meetDefinitions(const Type* root, const TypeDefinition* mentionedBy) {
  std::vector<const Type*> open = {root};
  std::set<const Type*> seen;
  while (!open.empty()) {
    const Type* type = open.back();
    open.pop_back();
    if (!(type->isTuple() || type->kind == TypeKind::Data) || !seen.insert(type).second)
      continue;
    open.insert(open.end(), type->parts.begin(), type->parts.end());
    if (type->kind != TypeKind::Data)
      continue;
    auto [definition, isNew] = known_.try_emplace(type->definition);
    if (isNew)
      waiting_.push_back(type->definition);
    if (mentionedBy)
      definition->second.mentionedBy.push_back(mentionedBy);
  }
}

void LeafSearch::meetFields(const TypeDefinition& definition) {
  for (const Constructor* constructor : definition.constructors)
    for (const Type* field : constructor->fields)
      meetDefinitions(field, &definition);
}

void LeafSearch::settle() {
  while (!waiting_.empty()) {
    const TypeDefinition* asked = waiting_.front();
    waiting_.pop_front();
    Definition& definition = known_[asked];
    definition.isWaiting = false;
    if (!std::exchange(definition.isMet, true))
      meetFields(*asked);
    Leads leads = leadsOf(*asked);
    if (leads == definition.leads)
      continue;
    definition.leads = std::move(leads);
    for (const TypeDefinition* other : definition.mentionedBy)
      if (!std::exchange(known_[other].isWaiting, true))
        waiting_.push_back(other);
  }
}

LeafSearch::Leads LeafSearch::leadsOf(const TypeDefinition& definition) const {
  Leads leads;
  for (const Constructor* constructor : definition.constructors)
    for (const Type* field : constructor->fields)
      follow(field, leads);
  return leads;
}

void LeafSearch::follow(const Type* root, Leads& leads) const {
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

void LeafSearch::followData(const Type& type, Leads& leads, std::vector<const Type*>& open) const {
  const Leads& own = known_.at(type.definition).leads;
  leads.toLeaf |= own.toLeaf;
  for (size_t i = 0; i < type.parts.size(); ++i)
    if (own.toParameters.contains(type.definition->generics[i]))
      open.push_back(type.parts[i]);
}

} // namespace lang
