#include "codegen/strips/compile/emit.h"

#include <algorithm>

namespace strips {

Emitter::Emitter(Nest& nest) : nest_(nest) {
  scopes_.push_back({});
  for (const loops::Assumption& size : nest.sizes) {
    uint32_t number = freshNumber();
    depths_[number] = 0;
    variables_[size.size] = number;
  }
  program.sizeCount = uint32_t(nest.sizes.size());
  lanes_ = nest.table.name("number of lanes");
  uint32_t lanes = freshNumber();
  depths_[lanes] = 0;
  variables_[*nest.table.nameOf(lanes_)] = lanes;
}

void Emitter::open(std::vector<Name> variables) {
  scopes_.push_back({variables});
  for (Name name : variables) {
    auto [known, isNew] = variables_.try_emplace(name, none);
    if (isNew)
      known->second = freshNumber();
    depths_[known->second] = depth();
  }
}

Sequence Emitter::close() {
  size_t closed = depth();
  std::erase_if(numbers_, [&](const auto& known) { return depths_[known.second] == closed; });
  Sequence code = std::move(scopes_.back().code);
  scopes_.pop_back();
  return code;
}

void Emitter::emit(const Sequence& code) {
  Sequence& to = scopes_.back().code;
  to.insert(to.end(), code.begin(), code.end());
}

uint32_t Emitter::freshNumber() {
  program.numbers.push_back(0);
  depths_.push_back(depth());
  return uint32_t(program.numbers.size() - 1);
}

uint32_t Emitter::constant(int64_t value) {
  auto [known, isNew] = constants_.try_emplace(value, 0);
  if (isNew) {
    known->second = freshNumber();
    depths_[known->second] = 0;
    program.numbers[known->second] = value;
  }
  return known->second;
}

uint32_t Emitter::compute(Code code, uint32_t a, uint32_t b, uint32_t c) {
  size_t host = std::max(depths_[a], depths_[b]);
  if (c != none)
    host = std::max(host, depths_[c]);
  uint32_t out = freshNumber();
  depths_[out] = host;
  emit(host, {.code = code, .out = out, .a = a, .b = b, .c = c});
  return out;
}

uint32_t Emitter::times(uint32_t a, uint32_t b) {
  uint32_t one = constant(1);
  return a == one ? b : b == one ? a : compute(Code::Sum, constant(0), a, b);
}

uint32_t Emitter::count(std::span<const Form> extents) {
  uint32_t elements = constant(1);
  for (Form extent : extents)
    elements = compute(Code::Count, elements,
                       number(nest_.table.greatest(extent, nest_.table.number(0))), none);
  return elements;
}

uint32_t Emitter::made(const sizes::AtomParts& parts) {
  if (parts.kind == sizes::AtomKind::Name)
    return variables_.at(parts.name);
  uint32_t left = number(parts.left), right = number(parts.right);
  Code code = parts.kind == sizes::AtomKind::Quotient ? Code::Quotient
              : parts.kind == sizes::AtomKind::Least  ? Code::Least
                                                      : Code::Greatest;
  return compute(code, left, right, none);
}

uint32_t Emitter::number(Form form) {
  sizes::Table& table = nest_.table;
  if (auto constant = table.constantOf(form))
    return this->constant(*constant);
  if (auto known = numbers_.find(form); known != numbers_.end())
    return known->second;
  const sizes::Sum sum = table.sumOf(form);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].coefficient == 1 &&
      sum.terms[0].factors.size() == 1)
    return numbers_[form] = made(sizes::AtomParts(table.partsOf(sum.terms[0].factors[0])));
  // What changes most comes last.
  auto byDepth = [&](uint32_t a, uint32_t b) { return depths_[a] < depths_[b]; };
  std::vector<uint32_t> last;
  Form lastTerm = table.number(0);
  for (const sizes::Term& term : sum.terms) {
    std::vector<uint32_t> factors;
    Form product = table.number(term.coefficient);
    for (sizes::Atom atom : term.factors) {
      factors.push_back(number(table.atom(atom)));
      product = table.product(product, table.atom(atom));
    }
    std::ranges::stable_sort(factors, byDepth);
    factors.insert(factors.begin(), constant(term.coefficient));
    if (last.empty() || depths_[factors.back()] >= depths_[last.back()]) {
      last = std::move(factors);
      lastTerm = product;
    }
  }
  uint32_t scale = last[0];
  for (size_t i = 1; i + 1 < last.size(); ++i)
    scale = times(scale, last[i]);
  Form rest = table.sum(form, lastTerm, -1);
  bool isAlone = rest == table.number(0);
  uint32_t made =
      isAlone ? times(scale, last.back()) : compute(Code::Sum, number(rest), scale, last.back());
  return numbers_[form] = made;
}

uint32_t Emitter::freshRegister(Element element, bool isStrip, bool isRow) {
  registers.push_back({element, isStrip, isRow});
  return uint32_t(registers.size() - 1);
}

uint32_t Emitter::kernel(const KernelName& name) {
  auto found = std::ranges::find(program.kernels, name);
  if (found == program.kernels.end()) {
    program.kernels.push_back(name);
    return uint32_t(program.kernels.size() - 1);
  }
  return uint32_t(found - program.kernels.begin());
}

Program Emitter::take(uint32_t stripLength) {
  program.stripLength = stripLength;
  program.numbers[variables_.at(*nest_.table.nameOf(lanes_))] = stripLength;
  return std::move(program);
}

} // namespace strips
