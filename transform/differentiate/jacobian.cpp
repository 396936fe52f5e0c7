// Values are taken apart into their tensors, the leaves, and loops run over the elements of one
// leaf at a time; what a loop gathers is put together in the end.
#include "transform/differentiate/jacobian.h"

#include "lang/ir/fields.h"
#include "lang/op/op.h"
#include "transform/differentiate/adjoint.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// A tensor inside of a value.
struct Leaf {
  Atom atom;
  const Type* type;

  bool isFloat() const { return type->dtype.isFloat(); }
};

using Leaves = std::vector<Leaf>;

/// How many floats a value holds.
const Dim* floatCount(TypeContext& types, const Type& type) {
  if (type.isTensor())
    return type.dtype.isFloat() ? product(types, type.shape) : types.constant(0);
  const Dim* count = types.constant(0);
  for (const Type* field : fieldTypes(types, type))
    count = types.add(count, floatCount(types, *field));
  return count;
}

class Jacobian {
public:
  Jacobian(Builder& builder, const Typing& typing, const Call& call)
      : make_(builder), call_(call), old_(call.arguments[0].value),
        type_(functionType(builder.types, call, typing)),
        wrt_(withRespectTo(call, type_.parts.size())), outside_(builder), body_(builder) {
    parameters_ = parametersFor(make_, type_.parts);
    for (size_t i : wrt_.parameters)
      addLeaves(body_, parameters_[i], *type_.parts[i], inputs_);
  }

  const Expr* written(bool isForward) {
    isForward ? writeColumns() : writeRows();
    size_t next = 0;
    Atom result = assembled(*type_.result, next);
    Atom made = outside_.bind(make_.function(parameters_, body_.finish(result)));
    return make_.blockExpr(outside_.finish(made));
  }

private:
  using Atomic = std::vector<Atom>;

  const OperatorRow& role(Role role) const { return make_.operators.withRole(role); }

  Atom derivative(Derivative derivative) {
    Setting wrt("wrt", call_.attributes->get("wrt"));
    return outside_.call(rowOf(make_.operators, derivative), {old_}, {wrt});
  }

  // Values and their leaves.

  void addLeaves(BlockBuilder& out, Atom value, const Type& type, Leaves& leaves) {
    if (type.isTensor())
      return leaves.push_back({value, &type});
    Atom fields = value;
    if (isRecord(type)) {
      std::vector<const Var*> vars;
      const Pattern* pattern = fieldsPattern(make_, *type.definition->constructors[0], vars);
      BlockBuilder arm(make_);
      Atom all = arm.tuple(Atomic(vars.begin(), vars.end()));
      fields = out.bind(make_.match(value, {make_.arm(pattern, arm.finish(all))}));
    }
    std::vector<const Type*> types = fieldTypes(make_.types, type);
    for (uint32_t i = 0; i < types.size(); ++i)
      addLeaves(out, out.project(fields, i), *types[i], leaves);
  }

  /// A value of a type from its leaves, from leaf `next` on.
  Atom rebuilt(BlockBuilder& out, const Type& type, const Atomic& leaves, size_t& next) {
    if (type.isTensor())
      return leaves[next++];
    Atomic fields;
    for (const Type* field : fieldTypes(make_.types, type))
      fields.push_back(rebuilt(out, *field, leaves, next));
    if (type.isTuple())
      return out.tuple(fields);
    return out.call(type.definition->constructors[0], fields);
  }

  /// Zeros in place of leaves, but for the one at `place`, which is one at element `i`.
  Atomic basis(BlockBuilder& out, const Leaves& leaves, const Atomic& zeros, size_t place, Atom i) {
    Atomic all = zeros;
    all[place] = out.call(role(Role::OneAt), {leaves[place].atom, i});
    return all;
  }

  Atomic zerosLike(const Leaves& leaves) {
    Atomic zeros(leaves.size());
    for (size_t i = 0; leaves.size() > 1 && i < leaves.size(); ++i)
      zeros[i] = body_.call(role(Role::ZerosLike), {leaves[i].atom});
    return zeros;
  }

  // Loops.

  /// Zeros for the derivatives of `outer`, one part for each of its elements.
  Leaf noParts(const Leaf& outer, const Leaf& inner) {
    std::vector<const Dim*> shape(outer.type->shape.begin(), outer.type->shape.end());
    shape.insert(shape.end(), inner.type->shape.begin(), inner.type->shape.end());
    const Type* type =
        make_.types.tensor(shape, inner.type->dtype, outer.type->isWide || inner.type->isWide);
    return {body_.call(role(Role::PartsLike), {outer.atom, inner.atom}), type};
  }

  /// Puts what `partsAt` makes of each element of `counted` in turn into its place of `starts`, a
  /// row or a column of each.
  template <typename Parts>
  Atomic gathered(const Leaf& counted, const Leaves& starts, bool isColumn, const Parts& partsAt) {
    if (starts.empty())
      return {};
    Atomic first;
    std::vector<const Type*> types;
    for (const Leaf& start : starts) {
      first.push_back(start.atom);
      types.push_back(start.type);
    }
    bool isOne = starts.size() == 1;
    const Type* state = isOne ? types[0] : make_.types.tuple(types);
    Var* loop = make_.var(VarOrigin::Let, "rows");
    body_.bind(loop, loopOver(loop, counted, state, starts.size(), isColumn, partsAt));
    Atom start = isOne ? first[0] : Atom(body_.tuple(first));
    Atom all = body_.call(loop, {make_.integer(runtime::Int64, 0), start});
    return fieldsOf(body_, all, starts.size());
  }

  /// A value that is one, or a tuple of `count` ones.
  Atomic fieldsOf(BlockBuilder& out, Atom value, size_t count) {
    if (count == 1)
      return {value};
    Atomic fields;
    for (uint32_t i = 0; i < count; ++i)
      fields.push_back(out.project(value, i));
    return fields;
  }

  template <typename Parts>
  const Function* loopOver(const Var* self, const Leaf& counted, const Type* state, size_t count,
                           bool isColumn, const Parts& partsAt) {
    const Var* i = make_.var(VarOrigin::Parameter, "i", make_.types.scalar(runtime::Int64));
    const Var* sofar = make_.var(VarOrigin::Parameter, "sofar", state);
    BlockBuilder body(make_), more(make_);
    Atom size = body.call(role(Role::Size), {counted.atom}, {{"dtype", runtime::Int64}});
    Atom isMore = body.call(*make_.operators.findInfix("<"), {i, size});
    Atomic parts = partsAt(more, i), old = fieldsOf(more, sofar, count), next;
    for (size_t k = 0; k < count; ++k)
      next.push_back(
          more.call(role(Role::WithPart), {old[k], parts[k], i}, {{"trailing", isColumn}}));
    Atom after = more.call(*make_.operators.findInfix("+"), {i, make_.integer(runtime::Int64, 1)});
    Atom joined = count == 1 ? next[0] : Atom(more.tuple(next));
    const Block* goesOn = more.finish(more.call(self, {after, joined}));
    Atom result = body.bind(make_.branch(isMore, goesOn, make_.block(sofar)));
    return make_.function({i, sofar}, body.finish(result), state);
  }

  // Both modes. The derivatives of output `o` are in `found_[o]`, one for each input.

  void writeRows() {
    Atom both =
        body_.call(derivative(Derivative::Vjp), Atomic(parameters_.begin(), parameters_.end()));
    Atom value = body_.project(both, 0), back = body_.project(both, 1);
    addLeaves(body_, value, *type_.result, outputs_);
    Atomic zeros = zerosLike(outputs_);
    for (size_t o = 0; o < outputs_.size(); ++o) {
      Leaves starts, all;
      for (const Leaf& input : inputs_) {
        all.push_back(noParts(outputs_[o], input));
        if (input.isFloat())
          starts.push_back(all.back());
      }
      Atomic rows = gathered(outputs_[o], starts, false, [&](BlockBuilder& more, Atom i) {
        size_t next = 0;
        Atom row = more.call(
            back, {rebuilt(more, *type_.result, basis(more, outputs_, zeros, o, i), next)});
        Leaves parts;
        for (uint32_t k = 0; k < wrt_.parameters.size(); ++k)
          addLeaves(more, wrt_.isTuple ? Atom(more.project(row, k)) : row,
                    *type_.parts[wrt_.parameters[k]], parts);
        Atomic floats;
        for (const Leaf& part : parts)
          if (part.isFloat())
            floats.push_back(part.atom);
        return floats;
      });
      found_.emplace_back();
      for (size_t i = 0, next = 0; i < inputs_.size(); ++i)
        found_[o].push_back(inputs_[i].isFloat() ? rows[next++] : all[i].atom);
    }
  }

  void writeColumns() {
    Atomic arguments(parameters_.begin(), parameters_.end());
    Atom push = derivative(Derivative::Jvp);
    addLeaves(body_, body_.call(old_, arguments), *type_.result, outputs_);
    Atomic zeros = zerosLike(inputs_);
    found_.resize(outputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Leaves starts;
      for (const Leaf& output : outputs_)
        starts.push_back(noParts(output, inputs_[i]));
      if (!inputs_[i].isFloat()) {
        for (size_t o = 0; o < outputs_.size(); ++o)
          found_[o].push_back(starts[o].atom);
        continue;
      }
      Atomic columns = gathered(inputs_[i], starts, true, [&](BlockBuilder& more, Atom element) {
        Atomic leaves = basis(more, inputs_, zeros, i, element), given = arguments;
        size_t next = 0;
        for (size_t k : wrt_.parameters)
          given.push_back(rebuilt(more, *type_.parts[k], leaves, next));
        Leaves tangents;
        addLeaves(more, more.project(more.call(push, given), 1), *type_.result, tangents);
        Atomic parts;
        for (const Leaf& tangent : tangents)
          parts.push_back(tangent.atom);
        return parts;
      });
      for (size_t o = 0; o < outputs_.size(); ++o)
        found_[o].push_back(columns[o]);
    }
  }

  // What was found, as one value.

  Atom assembled(const Type& output, size_t& next) {
    if (!output.isTensor())
      return tupleOver(output, [&](const Type& field) { return assembled(field, next); });
    const Atomic& found = found_[next++];
    size_t place = 0;
    Atomic parts;
    for (size_t k : wrt_.parameters)
      parts.push_back(byInput(*type_.parts[k], found, place));
    return wrt_.isTuple ? Atom(body_.tuple(parts)) : parts.front();
  }

  Atom byInput(const Type& input, const Atomic& found, size_t& place) {
    if (input.isTensor())
      return found[place++];
    return tupleOver(input, [&](const Type& field) { return byInput(field, found, place); });
  }

  template <typename OfField>
  Atom tupleOver(const Type& type, const OfField& ofField) {
    Atomic fields;
    for (const Type* field : fieldTypes(make_.types, type))
      fields.push_back(ofField(*field));
    return body_.tuple(fields);
  }

  Builder& make_;
  const Call& call_;
  Atom old_;
  const Type& type_;
  WithRespectTo wrt_;
  std::vector<const Var*> parameters_;
  /// Around the function that is written, and in it.
  BlockBuilder outside_, body_;
  Leaves inputs_, outputs_;
  std::vector<Atomic> found_;
};

} // namespace

const Type& functionType(TypeContext& types, const Call& call, const Typing& typing) {
  const Expr& atom = *call.arguments[0].value;
  if (const auto* global = atom.as<Global>())
    return *lang::functionType(types, *global->function, typing);
  return *typing.of(atom);
}

bool hasFewerInputs(TypeContext& types, const Call& call, const Typing& typing) {
  const Type& function = functionType(types, call, typing);
  const Dim* more = types.constant(0);
  for (size_t i : withRespectTo(call, function.parts.size()).parameters)
    more = types.add(more, floatCount(types, *function.parts[i]));
  more = types.subtract(more, floatCount(types, *function.result));
  return more->isConstant() && more->value < 0;
}

const Expr* jacobian(Builder& make, const Typing& typing, const Call& call, bool isForward) {
  return Jacobian(make, typing, call).written(isForward);
}

} // namespace transform
