// By explicit stacks, written and read.
#include "driver/values/json.h"

#include "driver/values/input_literal.h"
#include "driver/values/term.h"
#include "lang/source/utf8.h"
#include "runtime/formats/json_value.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace driver {

using formats::backquoted;
using formats::JsonCursor;
using lang::Type;
using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr size_t largestJson = size_t(1) << 32;

/// A tuple or constructor whose fields are being written.
struct OpenFields {
  std::span<const Value> fields;
  size_t next = 0;
};

/// The list of the fields of a tuple or constructor, if it is one.
std::optional<JsonCursor> fieldsOf(const JsonCursor& json) {
  if (json.kind() != '{')
    return std::nullopt;
  auto fields = json.member("tuple");
  if (!fields)
    fields = json.member("fields");
  return fields && fields->kind() == '[' ? fields : std::nullopt;
}

/// The elements of lists and the strings for numbers that JSON has not.
Result<Tensor> elements(const JsonCursor& json, runtime::DType dtype, lang::Notation notation) {
  std::string text(json.written());
  std::erase(text, '"');
  return literalTensor(text, dtype, notation);
}

class JsonReader {
public:
  JsonReader(ValueBuilder& builder, const AcceptTensor& accept)
      : builder_(builder), accept_(accept) {}

  Result<Done> read(JsonCursor json) {
    auto good = begin(json);
    while (good && !open_.empty()) {
      Open& top = open_.back();
      if (top.list) {
        good = nextItem(top);
      } else if (builder_.isFull()) {
        good = top.next ? Result<Done>(tooMany()) : Done{};
        builder_.close();
        open_.pop_back();
      } else if (top.members) {
        auto field = top.members->member(builder_.wantedName());
        good = field ? begin(*field) : missing();
      } else if (!top.next) {
        good = missing();
      } else {
        JsonCursor field = *top.next;
        top.next = field.next();
        good = begin(field);
      }
    }
    return good;
  }

private:
  /// A value whose fields are being read, or a list its items.
  struct Open {
    std::optional<JsonCursor> next;
    std::optional<ListConstructors> list = {};
    size_t count = 0;
    /// The object of the fields of a record.
    std::optional<JsonCursor> members = {};
  };

  Error tooMany() const {
    return Error{
        fmt::format("there is no place for `{}`: the type has fewer fields", builder_.path())};
  }

  Error missing() const {
    return Error{
        fmt::format("`{}`, which is `{}`, is missing", builder_.path(), builder_.wantedText())};
  }

  Error unexpected(const JsonCursor& json, std::string_view forms) const {
    return Error{fmt::format("`{}` is `{}`, which is written as {}, but here is {}",
                             builder_.path(), builder_.wantedText(), forms,
                             backquoted(json.written().substr(0, 40)))};
  }

  Result<Done> begin(JsonCursor json) {
    const Type& type = *builder_.wanted();
    if (auto problem = unreadable(builder_))
      return *problem;
    if (type.isTensor())
      return tensor(json);
    auto list = type.isTuple() ? std::nullopt : listConstructors(*type.definition);
    if (json.kind() == '[' && list) {
      open_.push_back({json.first(), list});
      return Done{};
    }
    if (type.isTuple()) {
      auto fields = json.kind() == '[' ? json : fieldsOf(json);
      if (!fields)
        return unexpected(json, "`{\"tuple\": [...]}` or a list");
      builder_.openTuple();
      open_.push_back({fields->first()});
      return Done{};
    }
    return constructor(json);
  }

  Result<Done> constructor(JsonCursor json) {
    auto name = json.kind() == '{' ? json.member("con") : std::nullopt;
    auto fields = fieldsOf(json);
    const lang::TypeDefinition& definition = *builder_.wanted()->definition;
    const bool hasNames = isRecord(definition) && !definition.constructors[0]->fieldNames.empty();
    if (json.kind() == '{' && !name && hasNames)
      return record(*definition.constructors[0], json);
    if (!name || name->kind() != '"' || !fields)
      return unexpected(json, "`{\"con\": NAME, \"fields\": [...]}`");
    auto named = constructorNamed(builder_, name->string());
    if (!named)
      return named.failure();
    builder_.open(**named);
    open_.push_back({fields->first()});
    return Done{};
  }

  /// A record as an object of its fields.
  Result<Done> record(const lang::Constructor& constructor, JsonCursor json) {
    for (const std::string& name : json.names())
      if (std::ranges::find(constructor.fieldNames, name) == constructor.fieldNames.end())
        return Error{fmt::format("there is no place for {} in `{}`, which is `{}`",
                                 backquoted(name), builder_.path(), builder_.wantedText())};
    builder_.open(constructor);
    open_.push_back({.next = std::nullopt, .members = json});
    return Done{};
  }

  Result<Done> nextItem(Open& top) {
    if (!top.next) {
      builder_.open(*top.list->empty);
      for (size_t i = 0; i <= top.count; ++i)
        builder_.close();
      open_.pop_back();
      return Done{};
    }
    JsonCursor item = *top.next;
    top.next = item.next();
    ++top.count;
    builder_.open(*top.list->link);
    return begin(item);
  }

  Result<Done> tensor(JsonCursor json) {
    auto read = json.kind() == '{' ? described(json)
                                   : elements(json, builder_.wanted()->dtype, builder_.notation());
    if (!read)
      return Error{fmt::format("`{}`: {}", builder_.path(), read.failure().message)};
    auto accepted = accept_(builder_, *std::move(read));
    if (!accepted)
      return accepted.failure();
    builder_.put(runtime::tensorValue(*std::move(accepted)));
    return Done{};
  }

  /// A tensor that says what it is.
  Result<Tensor> described(const JsonCursor& json) const {
    auto dtype = json.member("dtype"), shape = json.member("shape"), data = json.member("data");
    auto known =
        dtype && dtype->kind() == '"' ? runtime::parseDType(dtype->string()) : std::nullopt;
    if (!known || !shape || !data)
      return unexpected(json, "`{\"dtype\": NAME, \"shape\": [...], \"data\": [...]}`");
    auto extents = elements(*shape, runtime::Int64, builder_.notation());
    if (!extents)
      return extents;
    auto counts = extents->elements<int64_t>();
    runtime::Shape wanted(counts.begin(), counts.end());
    auto tensor = elements(*data, *known, builder_.notation());
    if (tensor && runtime::elementCount(wanted) != tensor->size())
      return Error{fmt::format("it has {} elements, and its shape is ({})", tensor->size(),
                               fmt::join(wanted, ", "))};
    return tensor ? tensor->reshaped(std::move(wanted)) : tensor;
  }

  ValueBuilder& builder_;
  const AcceptTensor& accept_;
  std::vector<Open> open_;
};

/// The field of that number of a tuple or constructor, or the item of a list.
std::optional<JsonCursor> fieldAt(const JsonCursor& json, size_t number) {
  auto fields = json.kind() == '[' ? json : fieldsOf(json);
  auto field = fields ? fields->first() : std::nullopt;
  for (; field && number > 0; --number)
    field = field->next();
  return field;
}

/// The member that a path begins with, and takes it away from the path; names may have dots.
std::optional<JsonCursor> takeMember(const JsonCursor& json, std::string_view& path) {
  for (size_t length = path.size(); json.kind() == '{';) {
    if (auto member = json.member(path.substr(0, length))) {
      path.remove_prefix(length);
      return member;
    }
    length = path.rfind('.', length - 1);
    if (length == std::string_view::npos || length == 0)
      break;
  }
  return std::nullopt;
}

} // namespace

Result<Done> appendJson(std::string& out, const Value& value) {
  std::vector<OpenFields> open;
  size_t parts = 0;
  const Value* next = &value;
  while (next) {
    if (++parts > mostParts || out.size() > largestJson)
      return Error{fmt::format("the result has more than {} parts or {} bytes of JSON", mostParts,
                               largestJson)};
    const ValueKind kind = next->kind();
    if (!unwritable(kind).empty())
      return unwritableError(kind);
    if (kind == ValueKind::Tensor) {
      formats::appendTensorJson(out, next->tensor());
    } else {
      out += kind == ValueKind::Tuple
                 ? "{\"tuple\":["
                 : "{\"con\":" + lang::jsonQuoted(next->symbol().name) + ",\"fields\":[";
      open.push_back({next->fields()});
    }
    while (!open.empty() && open.back().next == open.back().fields.size()) {
      out += "]}";
      open.pop_back();
    }
    next = nullptr;
    if (!open.empty()) {
      OpenFields& top = open.back();
      out += top.next == 0 ? "" : ",";
      next = &top.fields[top.next++];
    }
  }
  return Done{};
}

Result<Done> readJson(JsonCursor json, ValueBuilder& builder, const AcceptTensor& accept) {
  return JsonReader(builder, accept).read(json);
}

std::optional<JsonCursor> findJson(JsonCursor json, std::string_view path) {
  std::optional<JsonCursor> found = json;
  while (found && !path.empty()) {
    size_t number = 0;
    std::string_view word = path.substr(0, path.find('.'));
    auto end = std::from_chars(word.data(), word.data() + word.size(), number);
    bool isNumber = end.ec == std::errc() && end.ptr == word.data() + word.size();
    found = isNumber ? fieldAt(*found, number) : takeMember(*found, path);
    path.remove_prefix(isNumber ? word.size() : 0);
    path.remove_prefix(path.starts_with('.'));
  }
  return found;
}

} // namespace driver
