// What the kinds of file have in common is that the type says how to read on; they differ in what a
// key is.
#include "driver/values/readers.h"

#include "driver/values/arrays.h"
#include "driver/values/json.h"
#include "driver/values/literal.h"
#include "runtime/formats/file.h"
#include "runtime/formats/load.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

using formats::backquoted;
using runtime::Done;
using runtime::Error;
using runtime::Result;

namespace {

constexpr uint64_t largestText = uint64_t(1) << 32;

class ArraysFile : public ValueFile {
public:
  explicit ArraysFile(std::unique_ptr<formats::KeyedFile> file)
      : file_(std::move(file)), arrays_(*file_) {}

  std::vector<std::string> keys() const override { return file_->keys(); }

  std::string keyFor(std::string_view name, const ValueBuilder& builder) override {
    const bool isTensor = builder.wanted()->isTensor();
    std::vector<std::string> keys;
    for (const std::string& key : {std::string(name), std::string(resultKey)})
      if (isTensor ? arrays_.hasArray(key) : arrays_.has(key))
        keys.push_back(key);
    if (!isTensor || keys.empty())
      keys.push_back(isTensor && file_->keys().size() == 1 ? file_->keys()[0] : "");
    return keys.size() == 1 ? keys[0] : fullest(keys, builder);
  }

  Result<Done> read(const std::string& key, ValueBuilder& builder,
                    const AcceptTensor& accept) override {
    if (key.empty() && builder.wanted()->isTensor())
      return Error{"a key is needed, as in `PATH:KEY`; " + formats::listedKeys(file_->keys())};
    return readArrays(arrays_, key, builder, accept);
  }

  std::vector<std::string> unread(const std::string& key) const override {
    return arrays_.unused(key);
  }

private:
  /// The key at which the fewest parts are missing: a name of the file may be one of a field.
  std::string fullest(const std::vector<std::string>& keys, const ValueBuilder& builder) {
    size_t best = 0, fewest = SIZE_MAX;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto found = survey(arrays_, keys[i], builder.part());
      const size_t missing = found ? found->missing.size() : 1;
      if (missing < fewest) {
        fewest = missing;
        best = i;
      }
    }
    return keys[best];
  }

  std::unique_ptr<formats::KeyedFile> file_;
  ArrayKeys arrays_;
};

class JsonFile : public ValueFile {
public:
  explicit JsonFile(formats::JsonText text) : text_(std::move(text)) {}

  std::vector<std::string> keys() const override {
    return top().kind() == '{' ? top().names() : std::vector<std::string>();
  }

  std::string keyFor(std::string_view name, const ValueBuilder& builder) override {
    const bool isBare = top().kind() == '{' && !top().member(name) && isRecordOf(*builder.wanted());
    if (top().kind() == '{' && !isBare)
      for (std::string_view key : {name, std::string_view(resultKey)})
        if (top().member(key))
          return std::string(key);
    return "";
  }

  Result<Done> read(const std::string& key, ValueBuilder& builder,
                    const AcceptTensor& accept) override {
    auto found = findJson(top(), key);
    if (!found)
      return Error{
          fmt::format("there is no key {}; {}", backquoted(key), formats::listedKeys(keys()))};
    return readJson(*found, builder, accept);
  }

private:
  /// Whether the file has fields of a record, and not values by their names.
  bool isRecordOf(const lang::Type& type) const {
    if (type.kind != lang::TypeKind::Data || !isRecord(*type.definition))
      return false;
    const auto& fields = type.definition->constructors[0]->fieldNames;
    return std::ranges::any_of(fields, [&](std::string_view field) {
      return field != resultKey && field != R"(grad)" && top().member(field);
    });
  }

  formats::JsonCursor top() const { return formats::JsonCursor(text_); }

  formats::JsonText text_;
};

/// One value without a key; the suffix is that of its file.
class OneValue : public ValueFile {
public:
  explicit OneValue(std::string_view suffix) : suffix_(suffix) {}

  std::string keyFor(std::string_view, const ValueBuilder&) override { return ""; }

  Result<Done> read(const std::string& key, ValueBuilder& builder,
                    const AcceptTensor& accept) override {
    if (!key.empty())
      return Error{fmt::format("a {} holds one {} and takes no key, but {} is given", suffix_,
                               suffix_ == ".npy" ? "tensor" : "value", backquoted(key))};
    return readWhole(builder, accept);
  }

private:
  virtual Result<Done> readWhole(ValueBuilder& builder, const AcceptTensor& accept) = 0;

  std::string_view suffix_;
};

class TextFile : public OneValue {
public:
  explicit TextFile(std::string text) : OneValue(".txt"), text_(std::move(text)) {}

private:
  Result<Done> readWhole(ValueBuilder& builder, const AcceptTensor& accept) override {
    return readValueLiteral(text_, builder, accept);
  }

  std::string text_;
};

class NpyFile : public OneValue {
public:
  explicit NpyFile(runtime::Tensor tensor) : OneValue(".npy"), tensor_(std::move(tensor)) {}

private:
  Result<Done> readWhole(ValueBuilder& builder, const AcceptTensor& accept) override {
    if (isStructured(*builder.wanted()))
      return Error{fmt::format("it holds one tensor, and `{}` is wanted", builder.wantedText())};
    auto accepted = accept(builder, tensor_);
    if (!accepted)
      return accepted.failure();
    builder.put(runtime::tensorValue(*std::move(accepted)));
    return Done{};
  }

  runtime::Tensor tensor_;
};

} // namespace

OpenedValues openArrays(const std::string& path) {
  auto file = formats::openKeyed(path);
  if (!file)
    return file.failure();
  return std::unique_ptr<ValueFile>(new ArraysFile(*std::move(file)));
}

OpenedValues openJson(const std::string& path) {
  auto text = formats::readFile(path, largestText);
  if (!text)
    return text.failure();
  auto json = formats::JsonText::read(*std::move(text));
  if (!json)
    return Error{fmt::format("{}: {}", backquoted(path), json.failure().message)};
  return std::unique_ptr<ValueFile>(new JsonFile(*std::move(json)));
}

OpenedValues openText(const std::string& path) {
  auto text = formats::readFile(path, largestText);
  if (!text)
    return text.failure();
  return std::unique_ptr<ValueFile>(new TextFile(*std::move(text)));
}

OpenedValues openNpy(const std::string& path) {
  auto tensor = formats::loadTensor(path, std::nullopt);
  if (!tensor)
    return tensor.failure();
  return std::unique_ptr<ValueFile>(new NpyFile(*std::move(tensor)));
}

} // namespace driver
