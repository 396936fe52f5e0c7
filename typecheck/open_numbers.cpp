// Elements are a union-find; each root knows the unknowns of all that were linked to it.
#include "typecheck/open_numbers.h"

#include "typecheck/unify.h"

#include <algorithm>
#include <utility>

namespace typecheck {

bool holdsNumbers(runtime::DType dtype, OpenClass its) {
  return dtype.isFloat() || (its != OpenClass::Real && !dtype.isBool() && dtype.isInteger());
}

runtime::DType ownElement(OpenClass its) {
  return its == OpenClass::Integer ? runtime::Int32 : runtime::Float32;
}

void OpenNumbers::add(const lang::Type* unknown, lang::Dims shape, OpenClass its) {
  uint32_t element = uint32_t(elements_.size());
  elements_.push_back({element, its, {unknown}});
  numbers_[unknown] = {shape, element};
}

void OpenNumbers::addAlike(const lang::Type* unknown, lang::Dims shape, uint32_t element) {
  element = root(element);
  elements_[element].unknowns.push_back(unknown);
  numbers_[unknown] = {shape, element};
}

const lang::Type* OpenNumbers::addLike(lang::Dims shape, const lang::Type* other) {
  const lang::Type* unknown = unifier_.fresh();
  addAlike(unknown, shape, of(other)->element);
  return unknown;
}

const OpenNumbers::Number* OpenNumbers::of(const lang::Type* type) const {
  if (numbers_.empty())
    return nullptr;
  auto found = numbers_.find(unifier_.shallow(type));
  return found == numbers_.end() ? nullptr : &found->second;
}

uint32_t OpenNumbers::root(uint32_t element) {
  while (elements_[element].parent != element) {
    elements_[element].parent = elements_[elements_[element].parent].parent;
    element = elements_[element].parent;
  }
  return element;
}

void OpenNumbers::link(const Number& left, const Number& right) {
  uint32_t into = root(left.element), from = root(right.element);
  if (into == from)
    return;
  if (elements_[into].unknowns.size() < elements_[from].unknowns.size())
    std::swap(into, from);
  Element& other = elements_[from];
  elements_[into].its = std::max(elements_[into].its, other.its);
  elements_[into].unknowns.insert(elements_[into].unknowns.end(), other.unknowns.begin(),
                                  other.unknowns.end());
  other.unknowns.clear();
  other.parent = into;
}

bool OpenNumbers::fitShape(lang::Dims left, lang::Dims right) {
  if (left.size() != right.size())
    return false;
  for (size_t i = 0; i < left.size(); ++i)
    if (!unifier_.dims().unify(left[i], right[i]))
      return false;
  return true;
}

/// One that does not fit is what it would be by itself, which is then what a message can show.
bool OpenNumbers::bind(const lang::Type* unknown, const lang::Type* type) {
  auto found = numbers_.find(unknown);
  if (found == numbers_.end())
    return true;
  const Number number = found->second;
  type = unifier_.shallow(type);
  if (type->isUnknown()) {
    const Number* other = of(type);
    if (other && !fitShape(number.shape, other->shape)) {
      decideByDefault(number);
      return false;
    }
    if (other)
      link(number, *other);
    else
      addAlike(type, number.shape, number.element);
    numbers_.erase(unknown);
    return true;
  }
  bool fits = type->isTensor() && holdsNumbers(type->dtype, classOf(number)) &&
              fitShape(number.shape, type->shape);
  if (!fits && !type->isError()) {
    decideByDefault(number);
    return false;
  }
  numbers_.erase(unknown);
  if (fits)
    decide(number, type->dtype);
  return true;
}

void OpenNumbers::decide(const Number& number, runtime::DType dtype) {
  for (const lang::Type* unknown : std::exchange(elements_[root(number.element)].unknowns, {})) {
    auto open = numbers_.find(unknown);
    if (open == numbers_.end())
      continue;
    const lang::Type* type = unifier_.types().tensor(open->second.shape, dtype);
    numbers_.erase(open);
    unifier_.unify(unknown, type);
  }
}

void OpenNumbers::decideByDefault(const Number& number) {
  decide(number, ownElement(classOf(number)));
}

const lang::Type* shownType(Unifier& unifier, const lang::Type* type) {
  type = unifier.resolve(type);
  Unifier::FreshUnknowns shown;
  for (const Type* unknown : unifier.openUnknowns(type)) {
    const OpenNumbers::Number* number = unifier.numbers().of(unknown);
    shown.types[unknown] =
        number
            ? unifier.types().tensor(number->shape, ownElement(unifier.numbers().classOf(*number)))
            : unknown;
  }
  return unifier.withFreshUnknowns(type, shown);
}

} // namespace typecheck
