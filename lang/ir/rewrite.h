// Rewriting core IR: a copy of a module, function or block, in which a pass changes what it cares
// about.
//
// The copy may stand in another module, where nothing of the old one is left, or in the same one,
// where globals and data types are shared and only what is bound inside is made anew. A pass
// overrides `enter` to say what becomes of a binding before its parts are copied, or `bind` to say
// it after, when the operands of its value are those of the copy. Functions, branches and arms lie
// on an explicit stack, so neither long nor deep programs matter.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/type_map.h"

namespace lang {

/// What becomes of a binding whose parts have not been copied yet. Copy: its value is copied and
/// given to `bind`. Drop: nothing is left, and nothing may use it. Splice: the bindings of a block
/// inside, of a BlockExpr its own and else the one that `spliced` tells, go to the block around it,
/// and its result is given to `bind`.
enum class Fate : uint8_t { Copy, Drop, Splice };

class Rewriter {
public:
  /// Copies from `from` into the builder's module, which may be `from`, or another one with the
  /// same types.
  Rewriter(const Module& from, Builder& into);
  virtual ~Rewriter() = default;
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  /// Fills the builder's module, which must be empty, with a copy of all definitions.
  void module();
  /// A copy of a function or of a block; variables that it does not bind become what `substitute`
  /// said, or stay themselves.
  Function* function(const Function& function);
  const Block* block(const Block& block);
  /// Lets uses of `var` become `atom`.
  void substitute(const Var& var, Atom atom) { known(var) = atom; }

protected:
  virtual Fate enter(const Binding&) { return Fate::Copy; }
  /// The block that stands for a value which `enter` had spliced. What has to stand before it is
  /// bound in `out`.
  virtual const Block& spliced(const Binding& binding, BlockBuilder&) {
    return *static_cast<const BlockExpr&>(*binding.value).block;
  }
  /// Binds a value that was copied and answers with what uses of the old variable become. `make`
  /// stands at the range of the old value.
  virtual Atom bind(const Binding& old, const Expr* value, BlockBuilder& out);
  /// Called around each block that is not spliced; in between come its bindings. What is bound in
  /// the copy at first stands before all of them.
  virtual void openBlock(const Block&, BlockBuilder&) {}
  virtual void closeBlock(const Block&) {}
  /// The bindings to go through; a pass that moves bindings answers with a list of its own, in
  /// which every variable comes before its uses.
  virtual std::span<const Binding> bindingsOf(const Block& block) { return block.bindings; }
  /// The copy of what a block gives.
  virtual Atom resultOf(const Block& block) { return operandAtom(block.result); }
  /// What the copy of a variable, of a function's result, and of a function declare, in types of
  /// the old module.
  virtual const Type* declared(const Var& old) { return old.annotation; }
  virtual const Type* declaredResult(const Function& old) { return old.resultAnnotation; }
  virtual std::span<const TypeParameter* const> declaredGenerics(const Function& old) {
    return old.generics;
  }
  /// The parameters of the copy of a function, as if it had been written with them.
  virtual std::span<const Var* const> parametersOf(const Function& old) { return old.parameters; }
  /// Whether a global is copied by `module`; nothing that is copied may mention one that is not.
  virtual bool keeps(const Global&) { return true; }

  /// The copy of an atom.
  virtual Atom atom(const Expr& atom);
  /// The copy of an atom in its place as an operand.
  virtual Atom operandAtom(const Operand& old) { return atom(*old.value); }
  /// The variable of the copy that stands for one bound inside, made at the first call.
  Var* fresh(const Var& old);
  bool staysInModule() const { return &from_ == &make.module; }

  Builder& make;

private:
  /// A block in the making. `binding` is the one whose parts are being copied.
  struct Frame {
    const Block* source;
    std::span<const Binding> bindings;
    BlockBuilder* out;
    size_t next = 0;
    const Binding* binding = nullptr;
    /// Copies of the blocks right inside the binding's value, so far, and of a match's patterns.
    std::vector<const Block*> parts = {};
    std::vector<const Pattern*> patterns = {};
    Function* function = nullptr;
    std::unique_ptr<BlockBuilder> own = nullptr;
  };

  void open(const Block& block);
  void openSplice(const Binding& binding);
  void start(Frame& frame);
  void openPart(Frame& frame);
  void finishBinding(Frame& frame, const Expr* value);
  void receive(const Block* part);
  /// What a variable of the old code has become so far, or null.
  Atom& known(const Var& old);
  Function* functionHead(const Function& function);
  const Expr* copyValue(Frame& frame);
  Operand operand(const Operand& old) { return {operandAtom(old), old.range}; }
  std::span<const Operand> operands(std::span<const Operand> old);
  const Pattern* pattern(const Pattern& root);
  AttributeValue attribute(const AttributeValue& old);
  const Attributes* attributes(const Attributes* old);
  std::span<const NamedAttribute> named(std::span<const NamedAttribute> old);
  const Constant* constant(const Constant& old);
  const Global* global(const Global& old);
  const TypeParameter* parameter(const TypeParameter* old);
  const TypeDefinition* definition(const TypeDefinition* old);
  std::span<const TypeParameter* const> generics(std::span<const TypeParameter* const> old);
  void fillDefinitions();
  void copyDefinitions();
  void copyMetadata();

  const Module& from_;
  /// By Var::number of the old variables, from the first one on: what is copied in its own module
  /// may be a small part of that.
  std::vector<Atom> atoms_;
  size_t firstAtom_ = 0;
  std::unordered_map<const Global*, Global*> globals_;
  std::unordered_map<const TypeParameter*, const TypeParameter*> parameters_;
  std::unordered_map<const TypeDefinition*, TypeDefinition*> definitions_;
  /// Definitions whose copies have no constructors yet.
  std::vector<const TypeDefinition*> unfilled_;
  std::unordered_map<const runtime::Tensor*, const runtime::Tensor*> tensors_;
  /// Those that are tensors.
  std::unordered_map<const Constant*, const Constant*> constants_;
  /// From objects of the old metadata table to those of the new one.
  std::unordered_map<const void*, const void*> metadata_;
  TypeMap types_;
  std::vector<Frame> frames_;
};

/// A new module, filled by a rewriter of class `R`, which is made from the module, a builder and
/// `rest`.
template <typename R, typename... Rest>
std::unique_ptr<Module> rewritten(const Module& module, const OperatorTable& operators,
                                  const Rest&... rest) {
  auto copy = std::make_unique<Module>(module.types);
  Builder make(*copy, operators);
  R(module, make, rest...).module();
  return copy;
}

} // namespace lang
