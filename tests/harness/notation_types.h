// Types, and what else of a text its names hang on: which text has a definition.
#pragma once

#include "tests/harness/notation_plan.h"
#include "tests/harness/program.h"
#include "tests/harness/spelling.h"

namespace harness {

/// Writes the types and the names of one of the texts.
class NotationTypes {
public:
  NotationTypes(const Program& program, Spelling& spelling, const NotationPlan& plan,
                bool isImported)
      : program_(program), spelling_(spelling), plan_(plan), isImported_(isImported) {}

  /// How the definition that is being written says its named dimensions.
  DimStyle style = DimStyle::Named;

  std::string global(const Node& node) const;
  std::string constructor(const std::string& name) const;
  bool isOwn(const lang::TypeDefinition& definition) const;
  std::string type(const lang::Type* type);
  std::string dataType(const lang::TypeDefinition& definition);
  /// The type of a name as the definition says its sizes.
  std::string annotation(const Binder& binder);
  /// The same where it may be an alias of a tuple.
  std::string annotated(const lang::Type* type, NodeId id, size_t part);
  /// A tensor of which a size may be left to be found out, where a value tells it.
  std::string partialTensor(const lang::Type* type, NodeId id, size_t part);
  /// The aliases that what was written so far mentions, by what they mean.
  const std::map<std::string, std::string>& aliases() const { return aliases_; }

private:
  std::string shape(const lang::Type* type) const;
  std::string weak(const lang::Type* type);
  std::string list(lang::Types parts);

  const Program& program_;
  Spelling& spelling_;
  const NotationPlan& plan_;
  bool isImported_;
  std::map<std::string, std::string> aliases_ = {};
};

/// A name as the notation writes it, in backquotes where it needs them.
std::string notationName(const std::string& name);

} // namespace harness
