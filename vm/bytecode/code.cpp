// Short jumps reach 32,767 words.
#include "vm/bytecode/code.h"

#include "vm/bytecode/fusion.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace bytecode {

using vm::Word;

namespace {

/// Instructions on fields come as one for any number of fields, and for 1 to 3.
constexpr size_t fieldCounts = 4;

} // namespace

uint32_t Literals::numberOf(uint64_t bits) {
  auto [found, isNew] = numbers_.try_emplace(bits, uint32_t(program_.words.size()));
  if (isNew)
    program_.words.push_back(bits);
  return found->second;
}

void Code::emit(Op op, uint16_t a, uint16_t b, uint16_t c) {
  if (op == Op::Retain && a == b && mayFuse() && Op(words_[last_].op) == Op::LoadStatic &&
      words_[last_].a == a) {
    words_[last_].op = uint16_t(Op::LoadOwned);
    return;
  }
  last_ = words_.size();
  words_.push_back({uint16_t(op), a, b, c});
}

void Code::emitWide(Op op, uint16_t a, uint32_t number) {
  emit(op, a, uint16_t(number), uint16_t(number >> 16));
}

void Code::emitLoad(uint16_t reg, uint64_t bits, Literals& literals) {
  if (int64_t(bits) == int32_t(bits))
    emitWide(Op::LoadLong, reg, uint32_t(bits));
  else
    emitWide(Op::LoadWord, reg, literals.numberOf(bits));
}

void Code::emitFields(Op op, uint16_t a, uint16_t layout, uint16_t token,
                      std::span<const uint16_t> fields) {
  size_t known = fields.size() >= fieldCounts ? 0 : fields.size();
  if (op == Op::Fields && fuseMatch(a, layout, known)) {
    appendList(fields);
    patches_.back().from = words_.size();
    return;
  }
  emitList(Op(size_t(op) + known), a, layout, token, fields);
}

void Code::emitList(Op op, uint16_t a, uint16_t b, uint16_t c, std::span<const uint16_t> tail) {
  emit(op, a, b, c);
  appendList(tail);
}

/// An origin that was told after the instruction's first word is that of the next one.
void Code::appendList(std::span<const uint16_t> tail) {
  size_t start = words_.size();
  bool isToldNext = !places_.empty() && places_.back().start == start;
  words_.resize(start + (tail.size() + 3) / 4, Word{0, 0, 0, 0});
  if (!tail.empty())
    std::memcpy(words_.data() + start, tail.data(), tail.size() * sizeof(uint16_t));
  if (isToldNext)
    places_.back().start = uint32_t(words_.size());
}

/// Makes the comparison of an object's layout, which came last, one that loads fields as well.
bool Code::fuseMatch(uint16_t object, uint16_t layout, size_t known) {
  if (!mayFuse() || Op(words_[last_].op) != Op::JumpUnlessOf || words_[last_].a != object ||
      words_[last_].b != layout || patches_.back().at != last_)
    return false;
  words_[last_].op = uint16_t(size_t(Op::Match) + known);
  return true;
}

/// Makes the loading of one field, which came last, the end of the call.
bool Code::fuseReturn(uint16_t reg) {
  Word& last = words_[last_];
  if (last.op < uint16_t(Op::Fields) || last.op > uint16_t(Op::Fields3))
    return false;
  auto count = (words_.size() - last_ - 1) * 4;
  std::span<const uint16_t> loaded(reinterpret_cast<uint16_t*>(words_.data() + last_ + 1), count);
  std::span<const uint16_t> fields =
      loaded.first(last.op == uint16_t(Op::Fields) ? count : last.op - size_t(Op::Fields));
  auto isLoaded = [](uint16_t field) { return field != vm::none; };
  auto found = std::ranges::find(fields, reg);
  if (found == fields.end() || std::ranges::count_if(fields, isLoaded) != 1)
    return false;
  last.op = uint16_t(Op::ReturnField);
  last.c = uint16_t(found - fields.begin());
  shorten(last_ + 1);
  return true;
}

/// Leaves out the last words. What comes next is of the origin that was told last.
void Code::shorten(size_t size) {
  words_.resize(size);
  std::optional<uint32_t> origin;
  for (; !places_.empty() && places_.back().start > size; places_.pop_back())
    origin = origin.value_or(places_.back().origin);
  if (origin)
    comesFrom(*origin);
}

void Code::emitReturn(uint16_t reg) {
  if (mayFuse() && fuseReturn(reg)) {
    last_ = SIZE_MAX;
    return;
  }
  auto fused = mayFuse() && words_[last_].a == reg ? returning(Op(words_[last_].op)) : std::nullopt;
  if (!fused)
    return emit(Op::Return, reg);
  words_[last_].op = uint16_t(*fused);
  words_[last_].a = 0;
  last_ = SIZE_MAX;
}

void Code::emitCall(Op op, uint16_t window, uint32_t function) {
  auto fused = mayFuse() ? calling(Op(words_[last_].op), op) : std::nullopt;
  if (!fused)
    return emitWide(op, window, function);
  Word argument = words_.back();
  shorten(last_);
  emitWide(*fused, window, function);
  operands(argument.a, argument.b, argument.c);
  last_ = SIZE_MAX;
}

void Code::operands(uint16_t first, uint16_t second, uint16_t third) {
  words_.push_back({first, second, third, 0});
}

Label Code::newLabel() {
  labels_.push_back(SIZE_MAX);
  return Label(labels_.size() - 1);
}

void Code::place(Label label) {
  labels_[label] = words_.size();
  last_ = SIZE_MAX;
}

void Code::jump(Label to) {
  emit(Op::Jump);
  patches_.push_back({words_.size() - 1, to, words_.size(), Patch::Wide});
}

void Code::jumpUnless(uint16_t condition, bool holds, Label to) {
  emit(holds ? Op::JumpUnless : Op::JumpIf, condition);
  patches_.push_back({words_.size() - 1, to, words_.size(), Patch::Wide});
}

void Code::compareAndJump(Op op, uint16_t a, uint16_t b, Label to) {
  if (isFar_) {
    emit(op, a, b, 1);
    emitWide(Op::Jump, 0, 1);
    return jump(to);
  }
  emit(op, a, b);
  patches_.push_back({words_.size() - 1, to, words_.size(), Patch::Short});
}

void Code::switchTag(uint16_t object, std::span<const Label> arms) {
  emit(Op::SwitchTag, object, uint16_t(arms.size()));
  size_t at = words_.size() - 1;
  words_.resize(words_.size() + (arms.size() + 1) / 2, Word{0, 0, 0, 0});
  for (size_t i = 0; i < arms.size(); ++i)
    patches_.push_back({at, arms[i], words_.size(), Patch::Arm, i});
}

bool Code::fuseOpen(uint16_t object, uint16_t layout, uint16_t token,
                    std::span<const vm::Rep> fields, std::span<const uint16_t> kept) {
  if (!mayFuse())
    return false;
  Word& last = words_[last_];
  auto isOf = [&](Op family) {
    return last.op >= uint16_t(family) && last.op < uint16_t(family) + fieldCounts;
  };
  bool isMatch = isOf(Op::Match) && (token == vm::none || token == object);
  if (!(isOf(Op::Fields) || isMatch) || last.a != object || last.b != layout)
    return false;
  auto* loaded = reinterpret_cast<uint16_t*>(words_.data() + last_ + 1);
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i] != vm::none && kept[i] != loaded[i])
      return false;
  for (size_t i = 0; i < kept.size(); ++i)
    if (!fields[i].isScalar())
      loaded[i] = kept[i];
  Op from = isMatch ? Op::Match : Op::Fields;
  Op to = !isMatch ? Op::Unpack : token == vm::none ? Op::MatchUnpack : Op::MatchReuse;
  last.op = uint16_t(size_t(to) + last.op - size_t(from));
  if (!isMatch)
    last.c = token;
  return true;
}

void Code::comesFrom(uint32_t origin) {
  auto at = uint32_t(words_.size());
  if (!places_.empty() && places_.back().start == at)
    places_.back().origin = origin;
  else
    places_.push_back({at, origin});
}

void Code::finish(vm::Program& program) {
  auto start = uint32_t(program.code.size());
  for (const Patch& patch : patches_) {
    auto words = int64_t(labels_[patch.label]) - int64_t(patch.from);
    auto distance = int32_t(words);
    Word& word = words_[patch.at];
    if (patch.kind == Patch::Arm)
      vm::setArm(&word, patch.arm, distance);
    else if (patch.kind == Patch::Wide)
      word.b = uint16_t(distance), word.c = uint16_t(uint32_t(distance) >> 16);
    else if (words == int16_t(words))
      word.c = uint16_t(distance);
    else
      throw TooLarge("a branch of more than 32,767 words");
  }
  program.code.insert(program.code.end(), words_.begin(), words_.end());
  // Nothing is at a place behind the last word.
  for (vm::Place place : places_)
    if (place.start < words_.size())
      program.places.push_back({start + place.start, place.origin});
}

uint16_t Registers::take() {
  uint16_t index = takeFrom(firstFree);
  firstFree = index;
  return index;
}

uint16_t Registers::takeFrom(size_t start) {
  size_t index = std::max(start, firstFree);
  while (index < used.size() && used[index])
    ++index;
  take(uint16_t(index));
  return uint16_t(index);
}

uint16_t Registers::top() {
  while (!used.empty() && !used.back())
    used.pop_back();
  return uint16_t(used.size());
}

uint16_t Registers::takeTop() {
  uint16_t index = top();
  take(index);
  return index;
}

void Registers::take(uint16_t index) {
  if (index >= used.size())
    used.resize(index + size_t(1));
  used[index] = true;
  reserve(index + size_t(1));
}

void Registers::free(uint16_t index) {
  if (index >= used.size())
    return;
  used[index] = false;
  firstFree = std::min<size_t>(firstFree, index);
}

void Registers::reserve(size_t end) {
  most_ = std::max(most_, end);
  if (most_ >= vm::none)
    throw TooLarge("a function of more than 65,534 registers");
}

} // namespace bytecode
