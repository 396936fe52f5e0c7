// Constant folding: what follows from constants alone is computed before the program runs.
//
//   let %w = transpose([[1f, 2f]], axes=[1, 0]);         let %w = [[1f], [2f]];
//   %0 = split([3f, 4f], indices_or_sections=2);    =>   %0 = ([3f], [4f]);
//   (%w, %0.1, %0.1 + 1f)                                (%w, %0.1, [5f])
//
// Tuples are not opened: that is the business of simplification.
// What can be computed is in transform/analysis/constant_values.h. It is known to the calls that
// use it, but it only takes the place of a call where the text does not grow by it: where it is
// small, or no larger than the constants in the text that it is made of. So zeros stay zeros and do
// not become a list of them. Whoever runs the pass hands in the engine that computes (RunOptions);
// with another one than that of the program floats may be rounded in another order.
#include "lang/ir/rewrite.h"
#include "transform/analysis/constant_values.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_deciders.h"
#include "transform/passes.h"

#include <algorithm>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// What is to stand in the text may have so many bytes, however small the operands are.
constexpr size_t mostWritten = 128;

class Folder : public Rewriter {
public:
  Folder(const Module& from, Builder& into, const Typing& typing,
         const tensor::TensorEngine& engine)
      : Rewriter(from, into), typing_(typing), values_(from, typing, into.operators, engine),
        decidesType_(typeDeciders(from, typing)) {}

private:
  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    const Value& known = values_.learn(old);
    if (!known.isSet() || old.value->kind != ExprKind::Call || decidesType_[old.var->number])
      return Rewriter::bind(old, value, out);
    size_t bytes = bytesOfAll(typing_.of(*old.var)).value_or(0);
    if (bytes > std::max(mostWritten, values_.written(*old.var)))
      return Rewriter::bind(old, value, out);
    values_.write(*old.var, bytes);
    if (known.kind() == ValueKind::Tuple)
      return Rewriter::bind(old, tupleOf(known, out), out);
    const Expr* constant = constantOf(known);
    // A scalar that has no name is written where it is used.
    if (!old.isLet() && known.tensor().rank() == 0)
      return constant;
    return Rewriter::bind(old, constant, out);
  }

  const Constant* constantOf(const Value& value) {
    const Tensor& tensor = value.tensor();
    if (tensor.rank() > 0)
      return make.tensor(tensor);
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes(), tensor.byteSize());
    return make.bits(tensor.dtype(), bits);
  }

  const Expr* tupleOf(const Value& tuple, BlockBuilder& out) {
    std::vector<Atom> fields;
    for (const Value& field : tuple.fields()) {
      const Constant* constant = constantOf(field);
      fields.push_back(constant->tensor ? out.bind(constant) : Atom(constant));
    }
    return make.tuple(fields);
  }

  const Typing& typing_;
  /// Of the old module.
  ConstantValues values_;
  std::vector<bool> decidesType_;
};

} // namespace

std::unique_ptr<Module> constantFolding(const Module& module, const PassContext& context) {
  if (!context.engine)
    return nullptr;
  Module folded(module.types);
  Builder make(folded, context.operators);
  Folder(module, make, context.typing, *context.engine).module();
  return place(folded, context.operators);
}

} // namespace transform
