// Values of the run-time as objects of the machine. Recursion does not follow data.
#pragma once

#include "vm/bytecode/layouts.h"
#include "vm/machine/machine.h"

#include <deque>

namespace bytecode {

/// Makes objects of values whose types are known. Layouts that are new are added to the program, so
/// the machine has to be told.
class ValueReader {
public:
  ValueReader(Layouts& layouts, vm::Machine& machine) : layouts_(layouts), machine_(machine) {}

  /// The slot of a value of the type; a reference is owned.
  vm::Slot read(const runtime::Value& value, const lang::Type* type);

private:
  struct Scope;
  /// A type whose parameters stand for what the scope says.
  struct Located {
    const lang::Type* type;
    const Scope* scope;
    friend auto operator<=>(const Located&, const Located&) = default;
  };
  struct Scope {
    std::span<const lang::TypeParameter* const> parameters;
    std::vector<Located> arguments;
  };
  struct Frame;

  Located located(const lang::Type* type, const Scope* scope) const;
  Rep repOf(Located type) const;
  const Scope* scopeOf(Located data);
  Frame open(const runtime::Value& value, Located type);

  Layouts& layouts_;
  vm::Machine& machine_;
  std::deque<Scope> scopes_;
  std::map<std::pair<const lang::TypeDefinition*, std::vector<Located>>, const Scope*> known_;
};

} // namespace bytecode
