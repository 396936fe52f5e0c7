// A rewriter that knows the types of the old module; what has no mark is copied as it is.
#include "typecheck/complete.h"

#include "lang/ir/open_number.h"
#include "lang/ir/rewrite.h"

#include <algorithm>

namespace typecheck {

using namespace lang;
using runtime::DType;

namespace {

class Completer : public Rewriter {
public:
  Completer(const Module& from, Builder& into, Checking& checking, Diagnostics& diagnostics)
      : Rewriter(from, into), checking_(checking), diagnostics_(diagnostics) {}

private:
  bool keeps(const Global& global) override { return !checking_.open.isOpen(global); }

  Atom atom(const Expr& old) override {
    const auto* constant = old.as<Constant>();
    return constant && constant->open != OpenNumber::None ? number(*constant) : Rewriter::atom(old);
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (const Global* instance = checking_.open.usedBy(&old))
      return Rewriter::bind(old, atom(*instance), out);
    if (const auto* before = old.value->as<Project>(); before && !before->field.empty())
      value = field(*before, *value->as<Project>());
    else if (const auto* call = old.value->as<Call>())
      if (const auto* callee = call->callee.value->as<Constructor>(); callee && !callee->definition)
        value = changed(*call, *value->as<Call>());
    return Rewriter::bind(old, value, out);
  }

  Atom operandAtom(const Operand& old) override {
    const Global* instance = checking_.open.usedBy(&old);
    return instance ? atom(*instance) : atom(*old.value);
  }

  /// A parameter that was an open number is declared, as code may not tell any more what it is.
  const Type* declared(const Var& old) override {
    return checking_.open.numberParameter(old) ? checking_.typing.of(old) : old.annotation;
  }

  /// The constructor of the copy of what a record is made by.
  const Constructor& constructorOf(const Operand& record) {
    const Type& type = *checking_.typing.of(*record.value);
    return static_cast<const Constructor&>(*atom(*type.definition->constructors[0]));
  }

  static size_t placeOf(const Constructor& constructor, std::string_view field) {
    return size_t(std::ranges::find(constructor.fieldNames, field) -
                  constructor.fieldNames.begin());
  }

  /// `match record { Constructor(_, x, _) => x }`.
  const Expr* field(const Project& before, const Project& copied) {
    const Constructor& constructor = constructorOf(before.tuple);
    std::vector<const Pattern*> parts(constructor.fieldNames.size(), make.anyPattern());
    const Var* var = make.var(VarOrigin::Pattern, "x");
    parts[placeOf(constructor, before.field)] = make.varPattern(var);
    const Pattern* whole = make.constructorPattern(constructor, parts);
    return make.match(copied.tuple.value, {make.arm(whole, make.block(var))});
  }

  /// `match record { Constructor(x, _) => Constructor(x, value) }`.
  const Expr* changed(const Call& before, const Call& copied) {
    const Constructor& constructor = constructorOf(before.arguments[0]);
    const auto& names = before.callee.value->as<Constructor>()->fieldNames;
    std::vector<const Pattern*> parts;
    std::vector<Atom> fields(constructor.fieldNames.size());
    for (size_t i = 0; i < names.size(); ++i)
      fields[placeOf(constructor, names[i])] = copied.arguments[i + 1].value;
    for (Atom& each : fields) {
      const Var* var = each ? nullptr : make.var(VarOrigin::Pattern, "x");
      parts.push_back(var ? make.varPattern(var) : make.anyPattern());
      each = each ? each : var;
    }
    BlockBuilder body(make);
    const Var* made = body.bind(make.call(&constructor, fields));
    return make.match(copied.arguments[0].value,
                      {make.arm(make.constructorPattern(constructor, parts), body.finish(made))});
  }

  // Numbers.

  Atom number(const Constant& old) {
    DType dtype = checking_.unifier.resolve(old.type)->dtype;
    make.range = old.range;
    if (!old.tensor)
      return make.bits(dtype, bitsOf(old, dtype, old.bits));
    runtime::Tensor made(dtype, old.tensor->shape());
    const auto* bits = reinterpret_cast<const uint64_t*>(old.tensor->bytes());
    for (int64_t i = 0; i < made.size(); ++i) {
      uint64_t element = bitsOf(old, dtype, bits[i]);
      std::memcpy(made.bytes() + size_t(i) * dtype.bytes(), &element, dtype.bytes());
    }
    return make.tensor(std::move(made));
  }

  uint64_t bitsOf(const Constant& old, DType dtype, uint64_t bits) {
    OpenElement element{old.open, bits};
    auto found = bitsIn(element, dtype);
    if (!found)
      diagnostics_
          .report(Message::NumberOutOfRange, old.range, element.text(), runtime::dtypeName(dtype))
          .note("a number takes the element type that its use asks for");
    return found.value_or(0);
  }

  Checking& checking_;
  Diagnostics& diagnostics_;
};

} // namespace

std::unique_ptr<Module> complete(Module& module, Checking& checking, Diagnostics& diagnostics) {
  checking.open.orderInstances();
  auto copy = std::make_unique<Module>(module.types);
  Builder make(*copy, checking.operators);
  Completer(module, make, checking, diagnostics).module();
  return copy;
}

} // namespace typecheck
