// Numbers that take the element type that their use asks for.
//
// An open number is an unknown of which a shape and the class of its element type are known.
// Numbers that must agree, as the operands of a sum do, share an element, whatever their shapes
// are; when one of them meets a tensor, all get its element type.
#pragma once

#include "lang/types/type.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace typecheck {

/// What an open number may be. Integers and those that are Either are everything but truth values,
/// by themselves int32 and float32; reals are floats only. Linked ones are the greater of their
/// classes.
enum class OpenClass : uint8_t { None, Integer, Either, Real };

/// Whether an element type has all numbers of a class.
bool holdsNumbers(runtime::DType dtype, OpenClass its);
/// The element type of numbers that no use asks for one.
runtime::DType ownElement(OpenClass its);

class Unifier;

class OpenNumbers {
public:
  explicit OpenNumbers(Unifier& unifier) : unifier_(unifier) {}

  /// An open number by its unknown.
  struct Number {
    lang::Dims shape;
    uint32_t element;
  };

  /// Makes an unknown an open number with an element of its own.
  void add(const lang::Type* unknown, lang::Dims shape, OpenClass its);
  /// A fresh open number that agrees with another one.
  const lang::Type* addLike(lang::Dims shape, const lang::Type* other);
  /// The open number that a type is; null for any other type.
  const Number* of(const lang::Type* type) const;
  OpenClass classOf(const Number& number) { return elements_[root(number.element)].its; }
  /// The same for all numbers that agree, and another one for others.
  uint32_t elementOf(const Number& number) { return root(number.element); }
  /// Lets a number be a real.
  void makeReal(const Number& number) { elements_[root(number.element)].its = OpenClass::Real; }
  /// Lets two numbers have one element.
  void link(const Number& left, const Number& right);
  /// Gives a number, and all that agree with it, an element type.
  void decide(const Number& number, runtime::DType dtype);
  /// The same with the type of numbers that no use asks for.
  void decideByDefault(const Number& number);
  /// What follows from what an unknown is to stand for; false where it is an open number that does
  /// not fit that.
  bool bind(const lang::Type* unknown, const lang::Type* type);

private:
  struct Element {
    uint32_t parent;
    OpenClass its;
    std::vector<const lang::Type*> unknowns;
  };

  uint32_t root(uint32_t element);
  void addAlike(const lang::Type* unknown, lang::Dims shape, uint32_t element);
  bool fitShape(lang::Dims left, lang::Dims right);

  Unifier& unifier_;
  std::unordered_map<const lang::Type*, Number> numbers_;
  std::vector<Element> elements_;
};

/// A type as it is shown: numbers that are open still as what they are by themselves.
const lang::Type* shownType(Unifier& unifier, const lang::Type* type);

} // namespace typecheck
