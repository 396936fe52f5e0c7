// The other way of arrays.cpp, and a little more: files that other programs wrote may do
// without structures.
#include "driver/values/arrays.h"

#include "driver/values/literal.h"
#include "driver/values/part_names.h"
#include "driver/values/term.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace driver {

using formats::backquoted;
using lang::Type;
using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Tensor;

namespace {

Tensor rowOf(const Tensor& rows, size_t row) {
  Tensor tensor =
      Tensor::unwritten(rows.dtype(), runtime::Shape(rows.shape().begin() + 1, rows.shape().end()));
  std::memcpy(tensor.bytes(), rows.bytes() + row * tensor.byteSize(), tensor.byteSize());
  return tensor;
}

std::optional<size_t> wholeNumber(std::string_view text) {
  size_t number = 0;
  auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isNumber = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return isNumber ? std::optional(number) : std::nullopt;
}

/// The arrays that a structure mentions: how often each, and what comes next of those that were
/// read.
class StructureArrays {
public:
  StructureArrays(ArrayKeys& keys, std::string key, std::string_view text)
      : keys_(keys), key_(std::move(key)) {
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find_first_of("(), \t\r\n", at), text.size());
      if (auto number = wholeNumber(text.substr(at, end - at)))
        ++arrays_[*number].uses;
      at = end + 1;
    }
  }

  /// The tensor that a number in the structure stands for.
  Result<Tensor> next(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    auto number = wholeNumber(text);
    if (!number)
      return Error{fmt::format("{} has {} where the number of an array is expected",
                               backquoted(structureKey(key_)), backquoted(text))};
    Array& array = arrays_[*number];
    if (!array.rows) {
      auto read = keys_.read(partKey(key_, *number));
      if (!read)
        return read;
      array.rows = *std::move(read);
    }
    return array.uses == 1 ? *array.rows : row(array, *number);
  }

private:
  struct Array {
    size_t uses = 0;
    size_t taken = 0;
    std::optional<Tensor> rows = {};
  };

  Result<Tensor> row(Array& array, size_t number) {
    const Tensor& rows = *array.rows;
    if (rows.rank() == 0 || rows.shape()[0] != int64_t(array.uses))
      return Error{
          fmt::format("{} stands for {} tensors in {}, but the array has {}",
                      backquoted(partKey(key_, number)), array.uses, backquoted(structureKey(key_)),
                      rows.rank() == 0 ? "no rows" : fmt::format("{} rows", rows.shape()[0]))};
    return rowOf(rows, array.taken++);
  }

  ArrayKeys& keys_;
  const std::string key_;
  std::unordered_map<size_t, Array> arrays_;
};

constexpr size_t mostMissing = 1000, deepest = 10'000;

/// The names of the constructors of a type as keys.
std::vector<std::string> constructorKeys(const lang::TypeDefinition& definition,
                                         const std::string& key) {
  std::vector<std::string> keys;
  for (const lang::Constructor* each : definition.constructors)
    keys.push_back(partKey(key, shortName(*each)));
  return keys;
}

/// Goes through the parts of a value and their keys, first to see what is missing and then, when
/// nothing is, to read.
class ArrayReader {
public:
  /// With a survey, arrays are looked for and not read.
  ArrayReader(ArrayKeys& keys, ValueBuilder& builder, const AcceptTensor& accept,
              Survey* survey = nullptr)
      : keys_(keys), builder_(builder), accept_(accept), survey_(survey) {}

  Result<Done> read(const std::string& key) {
    auto good = begin(key);
    while (good && !open_.empty() && !(survey_ && survey_->missing.size() >= mostMissing)) {
      if (open_.size() > deepest)
        return Error{fmt::format("{} is too deep", backquoted(open_[0].key))};
      Open& top = open_.back();
      if (top.next == top.count)
        end();
      else if (top.list)
        good = beginItem(top);
      else
        good = begin(partKey(top.key, nameOf(top, top.next++)));
    }
    return good;
  }

private:
  /// A value whose parts are being read.
  struct Open {
    std::string key;
    size_t count;
    const lang::Constructor* constructor = nullptr;
    std::optional<ListConstructors> list = {};
    size_t next = 0;
  };

  static std::string nameOf(const Open& open, size_t part) {
    return open.constructor ? fieldName(*open.constructor, part) : std::to_string(part);
  }

  Result<Done> begin(const std::string& key) {
    const Type& type = *builder_.wanted();
    if (auto problem = unreadable(builder_))
      return *problem;
    if (type.isTensor())
      return tensor(key);
    if (type.isTuple()) {
      builder_.openTuple();
      open_.push_back({key, type.parts.size()});
      return Done{};
    }
    if (isRecord(*type.definition))
      return open(*type.definition->constructors[0], key);
    if (keys_.hasArray(structureKey(key)))
      return structure(key);
    if (auto list = listConstructors(*type.definition))
      return this->list(key, *list);
    return oneOfSeveral(key);
  }

  Result<Done> open(const lang::Constructor& constructor, const std::string& key) {
    builder_.open(constructor);
    open_.push_back({key, constructor.fields.size(), &constructor});
    return Done{};
  }

  /// Takes no part, which is missing or only looked for.
  Result<Done> passOver() {
    builder_.put(runtime::tupleValue({}));
    return Done{};
  }

  Result<Done> miss(const std::string& key, std::string what) {
    survey_->missing.push_back({key, std::move(what)});
    return passOver();
  }

  std::string wantedText() const { return fmt::format("`{}`", builder_.wantedText()); }

  void use(const std::string& key) {
    if (survey_)
      survey_->used.insert(key);
    else
      keys_.use(key);
  }

  Result<Done> tensor(const std::string& key) {
    if (survey_ && !keys_.hasArray(key))
      return miss(key, "which is " + wantedText());
    use(key);
    return survey_ ? passOver() : put(keys_.read(key));
  }

  Result<Done> put(Result<Tensor> read) {
    auto tensor = read ? accept_(builder_, *std::move(read)) : read;
    if (!tensor)
      return tensor.failure();
    builder_.put(runtime::tensorValue(*std::move(tensor)));
    return Done{};
  }

  Result<Done> structure(const std::string& key) {
    use(structureKey(key));
    if (survey_) {
      for (size_t i = 0, count = keys_.items(key).count; i < count; ++i)
        use(partKey(key, i));
      return passOver();
    }
    auto array = keys_.read(structureKey(key));
    if (!array)
      return array.failure();
    if (array->dtype() != runtime::UInt8 || array->rank() != 1)
      return Error{
          fmt::format("{} is to be a text, one row of `uint8`", backquoted(structureKey(key)))};
    const std::string_view text = formats::bytesOf(*array);
    StructureArrays arrays(keys_, key, text);
    auto good = readValueText(text, builder_, [&](std::string_view leaf) -> Result<Tensor> {
      auto tensor = arrays.next(leaf);
      return tensor ? accept_(builder_, *std::move(tensor)) : tensor;
    });
    return good ? good : inStructure(key, good.failure());
  }

  static Error inStructure(const std::string& key, const Error& error) {
    std::string where = backquoted(structureKey(key));
    bool isSaid = error.message.find(where) != std::string::npos;
    return isSaid ? error : Error{fmt::format("{}: {}", where, error.message)};
  }

  /// A value of a type with several constructors, of which one has a key.
  Result<Done> oneOfSeveral(const std::string& key) {
    const auto& constructors = builder_.wanted()->definition->constructors;
    const std::vector<std::string> named = constructorKeys(*builder_.wanted()->definition, key);
    std::optional<size_t> found;
    for (size_t i = 0; i < named.size(); ++i) {
      if (!keys_.has(named[i]))
        continue;
      if (found)
        return Error{fmt::format("it has {} and {}, and a value has one constructor",
                                 backquoted(named[*found]), backquoted(named[i]))};
      found = i;
    }
    if (!found)
      return miss(key, fmt::format("which is {}: `{}`", wantedText(), fmt::join(named, "` or `")));
    if (!constructors[*found]->fields.empty())
      return open(*constructors[*found], named[*found]);
    use(named[*found]);
    builder_.open(*constructors[*found]);
    builder_.close();
    return Done{};
  }

  Result<Done> list(const std::string& key, const ListConstructors& list) {
    if (keys_.hasArray(key)) {
      use(key);
      return survey_ ? passOver() : rows(key, list);
    }
    const ArrayKeys::Items items = keys_.items(key);
    if (items.beyond)
      survey_->missing.push_back(
          {partKey(key, items.count), fmt::format("an item of {}, of which there is `{}`",
                                                  wantedText(), partKey(key, *items.beyond))});
    else if (items.count == 0)
      return miss(key, "which is " + wantedText());
    open_.push_back({key, items.count, nullptr, list});
    return Done{};
  }

  /// A list of tensors as the rows of one.
  Result<Done> rows(const std::string& key, const ListConstructors& list) {
    auto array = keys_.read(key);
    if (!array)
      return array.failure();
    if (array->rank() == 0)
      return Error{fmt::format("{} has no rows, of which a list is wanted", backquoted(key))};
    const size_t count = size_t(array->shape()[0]);
    for (size_t i = 0; i < count; ++i) {
      builder_.open(*list.link);
      if (!builder_.wanted()->isTensor())
        return Error{fmt::format("{} is an array, and what is wanted is a list of `{}`",
                                 backquoted(key), builder_.wantedText())};
      if (auto good = put(rowOf(*array, i)); !good)
        return good;
    }
    endList(list, count);
    return Done{};
  }

  void endList(const ListConstructors& list, size_t count) {
    builder_.open(*list.empty);
    for (size_t i = 0; i <= count; ++i)
      builder_.close();
  }

  Result<Done> beginItem(Open& top) {
    builder_.open(*top.list->link);
    return begin(partKey(top.key, top.next++));
  }

  /// Ends what has all its parts.
  void end() {
    const Open& top = open_.back();
    if (top.list)
      endList(*top.list, top.count);
    else
      builder_.close();
    open_.pop_back();
  }

  ArrayKeys& keys_;
  ValueBuilder& builder_;
  const AcceptTensor& accept_;
  Survey* survey_;
  std::vector<Open> open_;
};

constexpr size_t mostTold = 10;

/// The names as items of a list of lines.
template <typename Lines>
std::string firstLines(const Lines& all, const auto& text) {
  std::string lines;
  for (size_t i = 0; i < all.size() && i < mostTold; ++i)
    lines += "\n  " + text(all[i]);
  if (all.size() > mostTold)
    lines += fmt::format("\n  and {} more", all.size() - mostTold);
  return lines;
}

/// Says what is missing of a value, and what of the file has no place in it.
Error missingText(const Survey& survey, const std::vector<std::string>& unused,
                  const ValueBuilder& builder) {
  constexpr size_t mostCompared = 1000;
  const std::vector<std::string_view> others(
      unused.begin(), unused.begin() + ptrdiff_t(std::min(unused.size(), mostCompared)));
  std::string text = fmt::format("parts of `{}` are missing:", builder.wantedText());
  text += firstLines(survey.missing, [&](const MissingPart& part) {
    auto similar = lang::similarNames(part.key, others);
    return fmt::format("{}, {}{}", backquoted(part.key), part.what,
                       similar.empty() ? ""
                                       : fmt::format("; did you mean {}?", backquoted(similar[0])));
  });
  if (!unused.empty())
    text += "\nand these have no place in it:" +
            firstLines(unused, [](const std::string& key) { return backquoted(key); });
  return Error{std::move(text)};
}

} // namespace

ArrayKeys::ArrayKeys(const formats::KeyedFile& file)
    : file_(file), keys_(file.keys().begin(), file.keys().end()) {}

bool ArrayKeys::has(const std::string& key) const {
  const std::string inner = key + '.';
  auto found = keys_.lower_bound(inner);
  return keys_.contains(key) || (found != keys_.end() && found->starts_with(inner));
}

ArrayKeys::Items ArrayKeys::items(const std::string& key) const {
  Items items;
  while (has(partKey(key, items.count)))
    ++items.count;
  const std::string inner = key.empty() ? "" : key + '.';
  // Other numbers stand between these, as words.
  for (auto each = keys_.lower_bound(inner); each != keys_.end() && each->starts_with(inner);
       ++each) {
    const std::string_view rest = std::string_view(*each).substr(inner.size());
    auto number = wholeNumber(rest.substr(0, rest.find('.')));
    if (number && *number >= items.count)
      items.beyond = std::min(items.beyond.value_or(*number), *number);
  }
  return items;
}

Result<Tensor> ArrayKeys::read(const std::string& key) {
  used_.insert(key);
  return file_.read(key);
}

std::vector<std::string> ArrayKeys::without(const std::string& key, const Keys& used) const {
  std::vector<std::string> keys;
  const std::string inner = key + '.';
  for (const std::string& each : keys_)
    if ((key.empty() || each == key || each.starts_with(inner)) && !used.contains(each))
      keys.push_back(each);
  return keys;
}

Result<Survey> survey(ArrayKeys& keys, const std::string& key, ValueBuilder builder) {
  Survey found;
  auto good = ArrayReader(keys, builder, {}, &found).read(key);
  return good ? Result<Survey>(std::move(found)) : good.failure();
}

Result<Done> readArrays(ArrayKeys& keys, const std::string& key, ValueBuilder& builder,
                        const AcceptTensor& accept) {
  auto found = survey(keys, key, builder.part());
  if (!found)
    return found.failure();
  if (!key.empty() && !found->missing.empty() && !keys.has(key))
    return Error{
        fmt::format("there is no key {}; {}", backquoted(key), formats::listedKeys(keys.all()))};
  if (!found->missing.empty())
    return missingText(*found, keys.without(key, found->used), builder);
  return ArrayReader(keys, builder, accept).read(key);
}

} // namespace driver
