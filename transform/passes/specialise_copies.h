// The copies that specialisation makes: which calls can have one, and what stands in it.
//
// Everything here is said in nodes of the old module, as the rewriter expects them: a copy is the
// old function with other parameters, and with bindings in front of its body that say what the old
// parameters are. Only its name is a global of the new module already.
#pragma once

#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/types/type_text.h"
#include "transform/analysis/instance.h"
#include "transform/analysis/known_functions.h"
#include "transform/analysis/type_parts.h"
#include "transform/passes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace transform {

struct KnownValue;
struct Copy;

/// A variable of a literal that something else binds: another known function, or a value.
struct Capture {
  const lang::Var* var;
  const KnownValue* function = nullptr;
  /// A variable that holds it where the call stands, and its type there.
  const lang::Expr* value = nullptr;
  const lang::Type* type = nullptr;
};

/// A function value that a call hands on: a literal with what it captures, or an atom.
struct KnownValue {
  /// The same for functions that one copy can serve.
  std::string key = {};
  const lang::Expr* atom = nullptr;
  const lang::Binding* literal = nullptr;
  Instance instance;
  std::vector<Capture> captures = {};
  size_t depth = 0;
  /// Of itself and of what it captures, once for each way there.
  size_t size = 1;
};

/// What holds in a part of the code that is being copied.
struct Code {
  Instance instance;
  /// The variables from outside that are known functions, by what they are names for, and those
  /// that are no more than values, with null.
  std::unordered_map<const lang::Expr*, const KnownValue*> functions = {};
  /// The copy that it is a part of, or null.
  const Copy* copy = nullptr;
};

/// A binding in front of the body: a name for an atom, or a literal in code of its own.
struct Prefix {
  lang::Binding binding;
  const Code* code = nullptr;
};

struct Copy {
  lang::Global* made;
  const lang::Global* source;
  /// Whose code asked for it first, or null.
  const Copy* caller;
  const lang::Function* function;
  Code body;
  std::vector<Prefix> prefix = {};
};

/// Whether a type parameter stands for types, and not for sizes.
bool isOfType(const lang::TypeParameter* parameter);
/// Whether a function with type parameters of its own is in a type.
bool holdsGeneric(const lang::Type* type);
/// Whether a function has such type parameters.
bool hasTypeParameters(const lang::Function& function, const lang::Typing& typing);

/// What becomes of local functions with type parameters that are values: literals of one type.
enum class LocalFunctions : uint8_t { AsTheyAre, OneType };

class Copies {
public:
  /// The findings of the context get derivatives that types do not have which type parameters
  /// stand for.
  Copies(const lang::Module& from, lang::Builder& into, const PassContext& context,
         LocalFunctions locals);

  /// The value of a binding with calls of copies in the place of those that can have one.
  /// What has to be bound for it goes to `before`.
  const lang::Expr* value(const lang::Binding& binding, const Code& code,
                          std::vector<lang::Binding>& before);
  /// What a block gives that is of this type in the old code: the instance of a generic global.
  const lang::Expr* result(const lang::Expr& atom, const lang::Type* type, const Code& code) {
    return instanceOf(atom, code.instance(type), code);
  }
  /// A copy whose body is not written yet, or null.
  const Copy* next() { return written_ < copies_.size() ? &copies_[written_++] : nullptr; }
  /// Whether a variable is a parameter of a copy, whose type is final.
  bool isOfCopy(const lang::Var& var) const { return var.number >= firstVar_; }
  bool isCopy(const lang::Expr& atom) const { return made_.contains(&atom); }
  /// What can be declared of a type of the old code; null when it can't.
  const lang::Type* shown(const lang::Type* type, const Code& code);
  runtime::Arena& arena() { return arena_; }

private:
  /// A way to use a global.
  struct Request {
    const lang::Global* global;
    /// Of the arguments and the value, where they are known.
    std::vector<const lang::Type*> arguments = {};
    const lang::Type* result = nullptr;
    /// By parameter; null for those that stay.
    std::vector<const KnownValue*> known = {};
    Instance instance;
    /// Of the copy.
    std::vector<const lang::Type*> parameterTypes = {};
    const lang::Type* resultType = nullptr;
    TypeNames names = {};

    const lang::Function& function() const { return *global->function; }
    bool hasKnown() const {
      return std::ranges::any_of(known, [](auto* each) { return each != nullptr; });
    }
  };

  void checkDerivative(const lang::Call& call, const Code& code);
  const lang::Expr* call(const lang::Binding& binding, const lang::Call& call, const Code& code);
  const lang::Expr* withInstances(const lang::Binding& binding, const Code& code,
                                  std::vector<lang::Binding>& before);
  std::vector<const lang::Type*> takenTypes(const lang::Binding& binding, const lang::Call& call,
                                            const Code& code);
  const lang::Function* literalOf(const lang::Expr& atom, const lang::Type* wanted,
                                  const Code& code);
  const lang::Expr* instanceAt(const lang::Expr& atom, const lang::Type* wanted, const Code& code,
                               std::vector<lang::Binding>& before);
  const lang::Expr* over(const lang::Expr& value, std::span<const lang::Operand> operands);
  std::vector<const lang::Type*> wantedTypes(const lang::Binding& binding, const Code& code);
  const lang::Expr* instanceOf(const lang::Expr& atom, const lang::Type* wanted, const Code& code);
  const lang::Type* typeOf(const lang::Expr& atom, const Code& code);
  std::optional<Instance> typeInstance(const Request& request);
  const KnownValue* known(const lang::Expr& atom, const lang::Type* wanted, const Code& code,
                          size_t level = 0);
  const KnownValue* knownLiteral(const lang::Binding& literal, const Code& code, size_t level);
  bool specialiseFunctions(Request& request);
  bool specialiseTypes(Request& request);
  bool isRefused(const Request& request, const std::string& key);
  Copy* find(const Request& request, const Code& code);
  Copy& make(const Request& request, const Copy* caller);
  const lang::Expr* install(Copy& copy, const KnownValue& known, const KnownValue*& clone,
                            std::vector<const lang::Var*>& parameters);
  std::vector<const lang::Var*> install(Copy& copy, const Request& request);
  const lang::Var* var(const lang::Var* like, const lang::Type* type);
  std::string name(const Request& request);

  lang::Builder& into_;
  const lang::Typing& typing_;
  lang::Diagnostics& findings_;
  LocalFunctions locals_;
  KnownFunctions known_;
  lang::FreeVariables free_;
  runtime::Arena arena_;
  lang::printing::TypeFacts facts_;
  uint32_t firstVar_;
  uint32_t varCount_;
  std::deque<Copy> copies_;
  size_t written_ = 0;
  std::deque<KnownValue> values_;
  std::deque<Code> codes_;
  std::unordered_map<std::string, Copy*> byKey_;
  /// Literals that were looked at, by where and how deep inside of others.
  std::map<std::tuple<const lang::Binding*, const Code*, size_t>, const KnownValue*> literals_;
  /// Keys of requests whose code cannot declare its types.
  std::unordered_set<std::string> refused_;
  std::unordered_set<std::string> names_;
  /// The last number behind a name.
  std::unordered_map<std::string, size_t> numbers_;
  std::unordered_set<const lang::Expr*> made_;
};

} // namespace transform
