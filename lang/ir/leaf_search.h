// Whether types lead to leaves of some kind, also through the fields of their data types.
//
// Data types may be recursive, and each use with other arguments, so the arguments are not put in:
// a definition is asked once what its own fields lead to, and which of its parameters.
#pragma once

#include "lang/types/type.h"

#include <deque>
#include <set>
#include <utility>

namespace lang {

/// Answers for any number of types. Definitions must stay as they are.
class LeafSearch {
public:
  using IsLeaf = bool (*)(const Type& type);

  explicit LeafSearch(IsLeaf isLeaf) : isLeaf_(isLeaf) {}

  bool leadsToLeaf(const Type* type);

private:
  /// What the fields of a definition lead to, as far as it is found out.
  struct Leads {
    bool toLeaf = false;
    std::set<const TypeParameter*> toParameters = {};

    bool operator==(const Leads&) const = default;
  };
  struct Definition {
    Leads leads = {};
    /// Those whose leads hang on these.
    std::vector<const TypeDefinition*> mentionedBy = {};
    bool isMet = false;
    bool isWaiting = true;
  };

  void meetDefinitions(const Type* type, const TypeDefinition* mentionedBy);
  void meetFields(const TypeDefinition& definition);
  void settle();
  Leads leadsOf(const TypeDefinition& definition) const;
  void follow(const Type* type, Leads& leads) const;
  void followData(const Type& type, Leads& leads, std::vector<const Type*>& open) const;

  IsLeaf isLeaf_;
  std::unordered_map<const Type*, bool> answers_;
  std::unordered_map<const TypeDefinition*, Definition> known_;
  /// Definitions to be asked, as they are new or something that they mention leads to more now.
  std::deque<const TypeDefinition*> waiting_;
};

} // namespace lang
