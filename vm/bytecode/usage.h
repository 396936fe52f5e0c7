// Who uses a variable last, and which parameters a function only borrows.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "vm/bytecode/constructions.h"
#include "vm/bytecode/last_uses.h"

#include <span>
#include <unordered_map>
#include <unordered_set>

namespace bytecode {

/// As what a function calls itself.
struct Itself {
  const lang::Global* global = nullptr;
  const lang::Var* var = nullptr;

  bool isCalledBy(const lang::Expr& value) const;
};

/// In one function, for every block, the binding after which a variable is not needed in it any
/// more: the number of bindings stands for the block's result. A use inside of a nested block or
/// function is a use by the binding that it is in.
class Usage {
public:
  Usage(const lang::Function& function, Itself itself,
        const std::vector<std::vector<const lang::Var*>>& freeVariables);

  /// The last binding of the block that uses the variable, if any does.
  std::optional<uint32_t> last(const lang::Block& block, const lang::Var& var) const {
    return uses_.last(block, var);
  }
  /// The variables for which a binding is the last one in its block.
  std::vector<const lang::Var*> dyingAt(const lang::Block& block, size_t binding) const {
    return uses_.dyingAt(block, binding);
  }
  /// How many uses are in bindings of the block from the first to the last.
  size_t usesIn(const lang::Block& block, size_t first, size_t last) const {
    return uses_.usesIn(block, first, last);
  }
  /// The fields that are taken out of it by number.
  struct Projection {
    const lang::Block* block;
    size_t binding;
  };
  std::span<const Projection> projections(const lang::Var& var) const {
    auto found = projections_.find(&var);
    return found == projections_.end() ? std::span<const Projection>() : found->second;
  }
  /// How often it is used, a use in a nested function counting as two.
  uint32_t count(const lang::Var& var) const;
  /// Whether it is a function that is called here and nothing else.
  bool isOnlyCalled(const lang::Var& var) const {
    auto found = calls_.find(&var);
    return found != calls_.end() && found->second == count(var);
  }
  /// Of which call of a function it is an argument, the last one if there are several.
  struct Argument {
    uint32_t place;
    /// Whether the call ends the function, wrapped or not.
    bool isTail;
  };
  const Argument* argument(const lang::Var& var) const {
    auto found = arguments_.find(&var);
    return found == arguments_.end() ? nullptr : &found->second;
  }
  /// The binding that makes an object with it as a field, the last one if there are several.
  struct Construction {
    const lang::Block* block;
    size_t binding;
  };
  const Construction* construction(const lang::Var& var) const {
    auto found = constructions_.find(&var);
    return found == constructions_.end() ? nullptr : &found->second;
  }
  /// Whether a block calls functions, itself or in a nested one.
  bool calls(const lang::Block& block) const { return calling_.contains(&block); }
  /// How many bindings there are, nested ones included.
  size_t bindings() const { return bindings_; }

private:
  void addBlock(const lang::Block& block, bool isTail);

  const Itself itself_;
  const std::vector<std::vector<const lang::Var*>>& free_;
  LastUses uses_;
  std::unordered_map<const lang::Var*, uint32_t> counts_;
  /// How often it is called here.
  std::unordered_map<const lang::Var*, uint32_t> calls_;
  std::unordered_map<const lang::Var*, Argument> arguments_;
  std::unordered_map<const lang::Var*, Construction> constructions_;
  std::unordered_map<const lang::Var*, std::vector<Projection>> projections_;
  std::unordered_set<const lang::Block*> calling_;
  size_t bindings_ = 0;
};

/// By Global::number and parameter: whether the function takes over the reference. It does when it
/// keeps it or gives it away, when it may use the memory of what it takes apart for what it makes,
/// when a call would else be no tail call, and when it is a tensor, or a tuple with one, that a
/// caller needs no more, which would stay until the call is done; else it borrows (Ullrich and de
/// Moura, Counting Immutable Beans).
using OwnedParameters = std::vector<std::vector<bool>>;
OwnedParameters findOwnedParameters(const lang::Module& module, const lang::Typing& typing);

/// Whether it calls a function: no operator and no constructor.
bool isFunctionCall(const lang::Expr& value);
/// Whether a function that ends with this block calls itself there, and all that is left behind is
/// to make an object around the result, and maybe others around that (Leijen and Lorenzen, Tail
/// Recursion Modulo Context). Other calls stay calls, so that traces tell of them.
bool isWrappedCall(const lang::Block& block, size_t at, Itself itself);

} // namespace bytecode
