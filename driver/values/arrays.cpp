// Names are as long as values are deep, so what is deep or large has one structure for all that is
// in it, and files are as large as values.
#include "driver/values/arrays.h"

#include "driver/values/part_names.h"
#include "driver/values/term.h"
#include "runtime/formats/quote.h"

#include <cstring>
#include <fmt/format.h>
#include <map>

namespace driver {

using runtime::Done;
using runtime::Result;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr size_t mostArrays = 1'000'000;
/// What a value of a type with several constructors may have at most to be written by names.
constexpr size_t mostNamed = 1000, deepestNamed = 30;

using NamedArrays = std::vector<std::pair<std::string, Tensor>>;

Tensor textTensor(const std::string& text) {
  Tensor tensor(runtime::UInt8, {int64_t(text.size())});
  std::memcpy(tensor.bytes(), text.data(), text.size());
  return tensor;
}

/// Tensors of one type as the rows of one.
Tensor stacked(const std::vector<Tensor>& rows) {
  runtime::Shape shape = rows[0].shape();
  shape.insert(shape.begin(), int64_t(rows.size()));
  Tensor all = Tensor::unwritten(rows[0].dtype(), std::move(shape));
  std::byte* to = all.bytes();
  for (const Tensor& row : rows) {
    std::memcpy(to, row.bytes(), row.byteSize());
    to += row.byteSize();
  }
  return all;
}

/// Adds the structure of a value of several constructors, and the arrays of its tensors, one for
/// each type.
Result<Done> addStructure(NamedArrays& arrays, const std::string& key, const Value& value) {
  using TensorType = std::tuple<runtime::DTypeCode, uint8_t, uint16_t, runtime::Shape>;
  std::map<TensorType, size_t> numbers;
  std::vector<std::vector<Tensor>> groups;
  std::string text;
  auto leaf = [&](std::string& out, const Value& part) -> Result<Done> {
    const Tensor& tensor = part.tensor();
    const runtime::DType dtype = tensor.dtype();
    auto [number, isNew] = numbers.try_emplace(
        TensorType{dtype.code, dtype.bits, dtype.lanes, tensor.shape()}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[number->second].push_back(tensor);
    out += std::to_string(number->second);
    return Done{};
  };
  if (auto good = appendValueText(text, value, leaf); !good)
    return good;
  arrays.emplace_back(structureKey(key), textTensor(text));
  for (size_t i = 0; i < groups.size(); ++i)
    arrays.emplace_back(partKey(key, i), groups[i].size() == 1 ? groups[i][0] : stacked(groups[i]));
  return Done{};
}

/// An array without elements: that a list is empty, or a constructor has no fields.
Tensor noElements() {
  return Tensor(runtime::UInt8, {0});
}

bool isSameType(const Tensor& one, const Tensor& other) {
  return one.dtype() == other.dtype() && one.shape() == other.shape();
}

/// The items of a list, if all are tensors of one type and shape.
std::optional<std::vector<Tensor>> rowsOf(const Value& list) {
  std::vector<Tensor> rows;
  for (const Value* link = &list; !link->fields().empty(); link = &link->fields()[1]) {
    const Value& item = link->fields()[0];
    if (item.kind() != ValueKind::Tensor || (!rows.empty() && !isSameType(rows[0], item.tensor())))
      return std::nullopt;
    rows.push_back(item.tensor());
  }
  return rows;
}

class ArrayWriter {
public:
  ArrayWriter(formats::TensorMap& arrays, const std::string& unnamed)
      : arrays_(arrays), unnamed_(unnamed) {}

  Result<Done> write(const std::string& key, const Value& value) {
    auto good = begin(key, value);
    while (good && !open_.empty()) {
      Open& top = open_.back();
      if (top.isList ? top.fields.empty() : top.next == top.fields.size()) {
        good = end();
        continue;
      }
      const std::string part =
          partKey(top.key, top.constructor && !top.isList ? fieldName(*top.constructor, top.next)
                                                          : std::to_string(top.next));
      ++top.next;
      const Value& field = top.fields[top.isList ? 0 : top.next - 1];
      if (top.isList)
        top.fields = top.fields[1].fields();
      good = begin(part, field);
    }
    return good ? finish() : good;
  }

private:
  /// A value whose parts are being written: the fields of what has fields, or those of the link of
  /// a list whose item comes next.
  struct Open {
    std::string key;
    std::span<const Value> fields;
    const lang::Constructor* constructor = nullptr;
    bool isList = false;
    size_t next = 0;
    /// How many arrays there were before it.
    size_t before = 0;
  };
  /// An outermost value of a type with several constructors, and what there was before it.
  struct Attempt {
    std::string key;
    const Value* value;
    size_t depth, arrays;
  };

  Result<Done> begin(const std::string& key, const Value& value) {
    if (++parts_ > mostParts)
      return tooManyParts(mostParts);
    switch (value.kind()) {
    case ValueKind::Tensor:
      return add(key, value.tensor());
    case ValueKind::Tuple:
      return open({key, value.fields()});
    case ValueKind::Constructor:
      break;
    default:
      return unwritableError(value.kind());
    }
    const lang::Constructor& constructor = lang::constructorOf(value);
    if (isRecord(*constructor.definition))
      return open({key, value.fields(), &constructor});
    if (!attempt_)
      attempt_ = Attempt{key, &value, open_.size(), made_.size()};
    return oneOfSeveral(key, value, constructor);
  }

  Result<Done> oneOfSeveral(const std::string& key, const Value& value,
                            const lang::Constructor& constructor) {
    if (listConstructors(*constructor.definition)) {
      auto rows = rowsOf(value);
      parts_ += rows ? rows->size() : 0;
      return rows ? add(key, rows->empty() ? noElements() : stacked(*rows))
                  : open({key, value.fields(), &constructor, /*isList=*/true});
    }
    // It would be taken for a structure.
    if (shortName(constructor) == structureKey(""))
      return giveUp();
    const std::string named = partKey(key, shortName(constructor));
    return value.fields().empty() ? add(named, noElements())
                                  : open({named, value.fields(), &constructor});
  }

  Result<Done> open(Open next) {
    if (attempt_ && open_.size() - attempt_->depth >= deepestNamed)
      return giveUp();
    next.before = made_.size();
    open_.push_back(std::move(next));
    return Done{};
  }

  /// Ends the innermost value. Names tell nothing of what has no arrays.
  Result<Done> end() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    const bool isTold = made_.size() > done.before;
    const bool isItem = !open_.empty() && open_.back().isList;
    const bool isOfSeveral = done.constructor && !isRecord(*done.constructor->definition);
    if (!isTold && (isItem || isOfSeveral))
      return giveUp();
    return settle();
  }

  /// Ends the attempt if its value is written.
  Result<Done> settle() {
    if (attempt_ && open_.size() == attempt_->depth)
      attempt_.reset();
    return Done{};
  }

  Result<Done> add(const std::string& key, Tensor tensor) {
    if (attempt_ && made_.size() - attempt_->arrays >= mostNamed)
      return giveUp();
    if (made_.size() >= mostArrays)
      return tooManyParts(mostArrays);
    made_.emplace_back(key.empty() ? unnamed_ : key, std::move(tensor));
    return settle();
  }

  /// Writes the value of the attempt as a structure.
  Result<Done> giveUp() {
    const Attempt attempt = *std::move(attempt_);
    attempt_.reset();
    open_.resize(attempt.depth);
    made_.resize(attempt.arrays);
    return addStructure(made_, attempt.key, *attempt.value);
  }

  Result<Done> finish() {
    for (auto& [key, tensor] : made_)
      if (!arrays_.emplace(key, std::move(tensor)).second)
        return runtime::Error{
            fmt::format("two parts of the result are called {}", formats::backquoted(key))};
    return Done{};
  }

  formats::TensorMap& arrays_;
  const std::string& unnamed_;
  NamedArrays made_;
  std::vector<Open> open_;
  std::optional<Attempt> attempt_;
  size_t parts_ = 0;
};

} // namespace

std::string structureKey(const std::string& key) {
  return partKey(key, "structure");
}

Result<Done> addArrays(formats::TensorMap& arrays, const std::string& key, const Value& value,
                       const std::string& unnamed) {
  return ArrayWriter(arrays, unnamed).write(key, value);
}

} // namespace driver
