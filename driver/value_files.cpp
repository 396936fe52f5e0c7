// Values of any depth, by explicit stacks. A value may share its parts, so that a small one is huge
// when written out: the number of parts is bounded.
#include "driver/value_files.h"

#include "formats/file.h"
#include "formats/json_value.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/quote.h"
#include "formats/safetensors.h"
#include "lang/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

namespace {

using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Value;
using runtime::ValueKind;

constexpr size_t mostParts = 50'000'000;
constexpr size_t mostTensors = 1'000'000;
constexpr size_t largestJson = size_t(1) << 32;

bool jsonHolds(runtime::DType) {
  return true;
}

/// The kinds of file that results go to.
struct FileKind {
  std::string_view suffix;
  bool holdsConstructors;
  bool (*holds)(runtime::DType);
};

constexpr FileKind fileKinds[] = {{".npz", false, formats::npyHolds},
                                  {".safetensors", false, formats::safetensorsHolds},
                                  {".json", true, jsonHolds}};

const FileKind* kindOf(const std::string& path) {
  for (const FileKind& kind : fileKinds)
    if (path.ends_with(kind.suffix))
      return &kind;
  return nullptr;
}

std::string_view nameOf(ValueKind kind) {
  constexpr std::string_view names[] = {
      "a tensor",    "a tuple",     "a constructor",         "a function",
      "a reference", "an operator", "a constructor function"};
  return names[size_t(kind)];
}

Error cannotHold(std::string_view suffix, std::string_view what, std::string_view remedy = "") {
  return Error{
      fmt::format("the result holds {}, which a {} file cannot hold{}", what, suffix, remedy)};
}

/// What of the type a file of that kind cannot hold, or empty. Data types are not looked into.
std::string obstacle(const FileKind& kind, const lang::Type* type) {
  std::unordered_set<const lang::Type*> seen{type};
  std::vector<const lang::Type*> open{type};
  while (!open.empty()) {
    const lang::Type* next = open.back();
    open.pop_back();
    if (next->kind == lang::TypeKind::Function)
      return std::string(nameOf(ValueKind::Closure));
    if (next->kind == lang::TypeKind::Reference)
      return std::string(nameOf(ValueKind::Reference));
    if (next->kind == lang::TypeKind::Data && !kind.holdsConstructors)
      return std::string(nameOf(ValueKind::Constructor));
    if (next->isTensor() && !kind.holds(next->dtype))
      return fmt::format("elements of `{}`", runtime::dtypeName(next->dtype));
    if (next->isTuple())
      for (const lang::Type* field : next->parts)
        if (seen.insert(field).second)
          open.push_back(field);
  }
  return {};
}

/// A tuple or constructor whose fields are being written.
struct OpenValue {
  std::span<const Value> fields;
  size_t next = 0;
};

/// Appends the JSON of a value.
Result<Done> appendJson(std::string& out, const Value& value) {
  std::vector<OpenValue> open;
  size_t parts = 0;
  const Value* next = &value;
  while (next) {
    if (++parts > mostParts || out.size() > largestJson)
      return Error{fmt::format("the result has more than {} parts or {} bytes of JSON", mostParts,
                               largestJson)};
    ValueKind kind = next->kind();
    if (kind == ValueKind::Tensor) {
      formats::appendTensorJson(out, next->tensor());
    } else if (kind == ValueKind::Tuple || kind == ValueKind::Constructor) {
      out += kind == ValueKind::Tuple
                 ? "{\"tuple\":["
                 : "{\"con\":" + lang::jsonQuoted(next->symbol().name) + ",\"fields\":[";
      open.push_back({next->fields()});
    } else {
      return cannotHold(".json", nameOf(kind));
    }
    while (!open.empty() && open.back().next == open.back().fields.size()) {
      out += "]}";
      open.pop_back();
    }
    next = nullptr;
    if (!open.empty()) {
      OpenValue& top = open.back();
      out += top.next == 0 ? "" : ",";
      next = &top.fields[top.next++];
    }
  }
  return Done{};
}

Result<std::string> jsonText(const RunResult& result) {
  std::string out = "{\"out\":";
  if (auto good = appendJson(out, result.value); !good)
    return good.failure();
  for (size_t i = 0; i < result.gradients.size(); ++i) {
    const auto& [name, gradient] = result.gradients[i];
    out += (i == 0 ? ",\"grad\":{" : ",") + lang::jsonQuoted(name) + ":";
    if (auto good = appendJson(out, gradient); !good)
      return good.failure();
  }
  return out + (result.gradients.empty() ? "}\n" : "}}\n");
}

/// A part of a tuple, and the key that its tensors get.
struct NamedValue {
  Value value;
  std::string key;
};

Result<formats::TensorMap> namedTensors(const RunResult& result, std::string_view suffix) {
  formats::TensorMap tensors;
  std::vector<NamedValue> open{{result.value, "out"}};
  for (const auto& [name, gradient] : result.gradients)
    open.push_back({gradient, "grad." + name});
  size_t parts = 0;
  while (!open.empty()) {
    NamedValue next = std::move(open.back());
    open.pop_back();
    if (next.value.kind() == ValueKind::Tensor) {
      tensors.emplace(next.key, next.value.tensor());
      continue;
    }
    if (next.value.kind() != ValueKind::Tuple)
      return cannotHold(suffix, nameOf(next.value.kind()));
    parts += next.value.fields().size() + 1;
    if (parts > mostTensors)
      return Error{fmt::format("the result has more than {} parts", mostTensors)};
    for (size_t i = next.value.fields().size(); i-- > 0;)
      open.push_back({next.value.fields()[i], fmt::format("{}.{}", next.key, i)});
  }
  return tensors;
}

} // namespace

Result<Done> checkOutput(const std::string& path, const lang::Type* type) {
  const FileKind* kind = kindOf(path);
  if (!kind)
    return Error{fmt::format("results go to .npz, .safetensors or .json files, and {} is none",
                             formats::backquoted(path))};
  std::string what = type ? obstacle(*kind, type) : "";
  if (what.empty())
    return Done{};
  auto other = std::ranges::find_if(
      fileKinds, [&](const FileKind& each) { return obstacle(each, type).empty(); });
  return cannotHold(kind->suffix, what,
                    other == std::end(fileKinds) ? ""
                                                 : fmt::format("; a {} file can", other->suffix));
}

Result<Done> writeOutput(const std::string& path, const RunResult& result) {
  if (auto checked = checkOutput(path, nullptr); !checked)
    return checked;
  if (path.ends_with(".json")) {
    auto text = jsonText(result);
    return text ? formats::writeFile(path, *text) : text.failure();
  }
  auto tensors = namedTensors(result, kindOf(path)->suffix);
  if (!tensors)
    return tensors.failure();
  if (path.ends_with(".npz"))
    return formats::writeNpz(path, *tensors, formats::Compression::Stored);
  return formats::writeSafetensors(path, *tensors);
}

} // namespace driver
