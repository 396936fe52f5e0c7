// One row for each kind of file: what it holds, and how it is written and read.
#include "driver/values/files.h"

#include "driver/values/arrays.h"
#include "driver/values/json.h"
#include "driver/values/readers.h"
#include "driver/values/tensor_text.h"
#include "driver/values/term.h"
#include "lang/source/utf8.h"
#include "runtime/formats/file.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/safetensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

namespace {

using formats::backquoted;
using lang::TypeKind;
using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::ValueKind;

Error cannotHold(std::string_view suffix, std::string_view what, std::string_view remedy = "") {
  return Error{
      fmt::format("the result holds {}, which a {} file cannot hold{}", what, suffix, remedy)};
}

Result<formats::TensorMap> arraysOf(const RunResult& result) {
  formats::TensorMap arrays;
  auto good = addArrays(arrays, result.isNamed ? resultKey : "", result.value, resultKey);
  for (size_t i = 0; good && i < result.gradients.size(); ++i)
    good = addArrays(arrays, "grad." + result.gradients[i].first, result.gradients[i].second);
  return good ? Result<formats::TensorMap>(std::move(arrays)) : good.failure();
}

Result<std::string> npzBytes(const RunResult& result) {
  auto arrays = arraysOf(result);
  return arrays ? formats::npzBytes(*arrays, formats::Compression::Stored) : arrays.failure();
}

Result<std::string> safetensorsBytes(const RunResult& result) {
  auto arrays = arraysOf(result);
  return arrays ? formats::safetensorsBytes(*arrays) : arrays.failure();
}

Result<std::string> jsonText(const RunResult& result) {
  std::string out = fmt::format("{{\"{}\":", resultKey);
  auto good = appendJson(out, result.value);
  for (size_t i = 0; good && i < result.gradients.size(); ++i) {
    const auto& [name, gradient] = result.gradients[i];
    out += (i == 0 ? ",\"grad\":{" : ",") + lang::jsonQuoted(name) + ":";
    good = appendJson(out, gradient);
  }
  return good ? Result<std::string>(out + (result.gradients.empty() ? "}\n" : "}}\n"))
              : good.failure();
}

Result<std::string> valueText(const RunResult& result) {
  std::string out;
  auto leaf = [](std::string& text, const runtime::Value& tensor) -> Result<Done> {
    text += tensorText(tensor, {.mostElements = INT64_MAX, .isInline = true});
    return Done{};
  };
  auto good = appendValueText(out, result.value, leaf);
  return good ? Result<std::string>(out + '\n') : good.failure();
}

bool holdsAll(runtime::DType) {
  return true;
}

/// The kinds of file that hold values; those without a way to write are read only.
struct FileKind {
  std::string_view suffix;
  OpenedValues (*open)(const std::string& path);
  bool (*holds)(runtime::DType) = holdsAll;
  Result<std::string> (*write)(const RunResult& result) = nullptr;
  bool holdsGradients = true;
};

constexpr FileKind fileKinds[] = {
    {".npz", openArrays, formats::npyHolds, npzBytes},
    {".safetensors", openArrays, formats::safetensorsHolds, safetensorsBytes},
    {".json", openJson, holdsAll, jsonText},
    {".txt", openText, holdsAll, valueText, false},
    {".npy", openNpy}};

const FileKind* kindOf(std::string_view path) {
  auto found = std::ranges::find_if(
      fileKinds, [&](const FileKind& kind) { return path.ends_with(kind.suffix); });
  return found == std::end(fileKinds) ? nullptr : found;
}

/// What of the type a file of that kind cannot hold, or empty.
lang::Words obstacle(const FileKind& kind, const lang::Type* type) {
  std::unordered_set<const lang::Type*> seen;
  std::vector<const lang::Type*> open;
  auto add = [&](lang::Types types) {
    for (const lang::Type* each : types)
      if (seen.insert(each).second)
        open.push_back(each);
  };
  add({&type, 1});
  while (!open.empty()) {
    const lang::Type* next = open.back();
    open.pop_back();
    if (next->kind == TypeKind::Function)
      return std::string(unwritable(ValueKind::Closure));
    if (next->kind == TypeKind::Reference)
      return std::string(unwritable(ValueKind::Reference));
    if (next->isTensor() && !kind.holds(next->dtype))
      return lang::words("elements of `{}`", next->dtype);
    if (isStructured(*next))
      add(next->parts);
    if (next->kind == TypeKind::Data)
      for (const lang::Constructor* constructor : next->definition->constructors)
        add(constructor->fields);
  }
  return {};
}

} // namespace

bool isValueFile(std::string_view path) {
  return kindOf(path) != nullptr;
}

Result<Done> checkOutput(const std::string& path, const lang::Type* type, bool hasGradients,
                         lang::Notation notation) {
  const FileKind* kind = kindOf(path);
  if (!kind || !kind->write)
    return Error{fmt::format(
        "results go to .npz, .safetensors, .json or .txt files, and {} is none", backquoted(path))};
  if (hasGradients && !kind->holdsGradients)
    return Error{fmt::format("a {} file holds the result alone, and there are gradients too; a "
                             ".json file can",
                             kind->suffix)};
  std::string what = type ? obstacle(*kind, type).in(notation) : "";
  if (what.empty())
    return Done{};
  auto other = std::ranges::find_if(
      fileKinds, [&](const FileKind& each) { return each.write && obstacle(each, type).empty(); });
  return cannotHold(kind->suffix, what,
                    other == std::end(fileKinds) ? ""
                                                 : fmt::format("; a {} file can", other->suffix));
}

Result<Done> writeOutput(const std::string& path, const RunResult& result) {
  if (auto checked = checkOutput(path, nullptr, !result.gradients.empty()); !checked)
    return checked;
  const FileKind& kind = *kindOf(path);
  auto bytes = runtime::guarded([&] { return kind.write(result); });
  return bytes ? formats::writeFile(path, *bytes) : bytes.failure();
}

Result<Done> writePart(const std::string& path, const runtime::Value& value) {
  return writeOutput(path, {.value = value, .isNamed = false});
}

OpenedValues openValueFile(const std::string& path) {
  return runtime::guarded([&] { return kindOf(path)->open(path); });
}

} // namespace driver
