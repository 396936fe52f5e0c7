// Code that gives a size as a number.
//
// A size is read off a parameter in whose type it stands by itself, also in fields of tuples and of
// records; other forms are computed from such sizes.
#pragma once

#include "lang/ir/builder.h"
#include "lang/ir/typing.h"
#include "lang/op/op.h"

#include <functional>
#include <optional>
#include <unordered_map>

namespace typecheck {

/// Where sizes stand by themselves in the parameters of a function.
class SizePlaces {
public:
  SizePlaces(const lang::Function& function, const lang::Typing& typing, lang::TypeContext& types);

  /// A step into a value: a field of a tuple or of a record.
  struct Step {
    const lang::Type* type;
    uint32_t field;
  };
  /// A dimension of a tensor inside of a parameter.
  struct Place {
    const lang::Var* parameter;
    std::vector<Step> steps;
    size_t axis;
  };
  /// Where a size stands; null where it stands nowhere.
  const Place* find(const lang::Dim* size) const {
    auto found = places_.find(size);
    return found == places_.end() ? nullptr : &found->second;
  }

private:
  void search(const lang::Var& parameter, const lang::Type* type, lang::TypeContext& types);

  std::unordered_map<const lang::Dim*, Place> places_;
};

class SizeCode {
public:
  /// Writes into `out`. Sizes are read off the parameters of the functions around it, of which
  /// `around` tells, and `copied` what parameters and constructors have become there.
  SizeCode(lang::Builder& make, lang::BlockBuilder& out, std::vector<const SizePlaces*> around,
           std::function<lang::Atom(const lang::Expr&)> copied)
      : make_(make), out_(out), around_(std::move(around)), copied_(std::move(copied)) {}

  /// The size as a number; null where nothing tells it.
  lang::Atom write(const lang::Dim* size, runtime::DType dtype);

  // For valueOf (lang/types/dim_value.h), in int64.
  using Value = lang::Atom;
  const Value* known(const lang::Dim* dim) const;
  void keep(const lang::Dim* dim, Value value) { values_[dim] = value; }
  Value open(const lang::Dim* dim);
  Value number(int64_t value) { return make_.integer(runtime::Int64, value); }
  Value add(Value left, Value right) { return compute("+", left, right); }
  Value addNumber(Value left, int64_t right) { return compute("+", left, number(right)); }
  Value scaled(Value left, int64_t right) { return compute("*", left, number(right)); }
  Value multiply(Value left, Value right) { return compute("*", left, right); }
  Value quotient(Value left, int64_t right) {
    return out_.call(make_.operators.withRole(lang::Role::FloorDivide), {left, number(right)});
  }

private:
  const SizePlaces::Place* find(const lang::Dim* size) const;
  lang::Atom stepInto(lang::Atom value, const SizePlaces::Step& step);
  lang::Atom read(const SizePlaces::Place& place, runtime::DType dtype);
  Value compute(std::string_view infix, Value left, Value right);

  lang::Builder& make_;
  lang::BlockBuilder& out_;
  std::vector<const SizePlaces*> around_;
  std::function<lang::Atom(const lang::Expr&)> copied_;
  std::unordered_map<const lang::Dim*, Value> values_;
  /// Whether everything was known.
  bool isKnown_ = true;
};

} // namespace typecheck
