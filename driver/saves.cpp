// Parts are found by types, so that a name that is none is told before the run.
#include "driver/saves.h"

#include "driver/values/part_names.h"
#include "lang/ir/fields.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

using runtime::Error;
using runtime::Result;

namespace {

/// The names of the fields of a tuple or record.
std::vector<std::string> fieldNamesOf(const lang::Type& type) {
  const lang::Constructor* record = type.isTuple() ? nullptr : type.definition->constructors[0];
  std::vector<std::string> names;
  for (size_t i = 0; i < (record ? record->fields.size() : type.parts.size()); ++i)
    names.push_back(record ? fieldName(*record, i) : std::to_string(i));
  return names;
}

/// The field that a path begins with, of several the one with the longest name.
std::optional<size_t> fieldAt(const std::vector<std::string>& names, std::string_view path) {
  std::optional<size_t> found;
  for (size_t i = 0; i < names.size(); ++i) {
    bool isHere = path.starts_with(names[i]) &&
                  (path.size() == names[i].size() || path[names[i].size()] == '.');
    if (isHere && (!found || names[i].size() > names[*found].size()))
      found = i;
  }
  return found;
}

Error noField(const lang::Type& type, const std::vector<std::string>& names, std::string_view path,
              lang::Notation notation) {
  const std::string_view name = path.substr(0, path.find('.'));
  // Any name of one letter is one change away from any other.
  auto similar =
      name.size() > 1 ? lang::similarNames(name, names) : std::vector<std::string_view>();
  return Error{fmt::format(
      "the result has no part {}: `{}` has {}{}", formats::backquoted(path),
      lang::typeText(&type, notation),
      names.empty() ? "no fields" : fmt::format("the fields `{}`", fmt::join(names, "`, `")),
      similar.empty() ? "" : fmt::format("; did you mean {}?", formats::backquoted(similar[0])))};
}

} // namespace

Save readSave(std::string_view word) {
  size_t equals = word.find('=');
  if (equals == std::string_view::npos)
    return {{}, std::string(word)};
  return {word.substr(0, equals), std::string(word.substr(equals + 1))};
}

const runtime::Value& ResultPart::of(const runtime::Value& result) const {
  const runtime::Value* part = &result;
  for (size_t field : fields)
    part = &part->fields()[field];
  return *part;
}

Result<ResultPart> partOf(lang::TypeContext& types, const lang::Type* type, std::string_view path,
                          lang::Notation notation) {
  ResultPart part{type};
  while (!path.empty()) {
    if (!part.type->isTuple() && !lang::isRecord(*part.type))
      return Error{fmt::format("the result has no part {}: parts of `{}` have no names to save "
                               "them by",
                               formats::backquoted(path), lang::typeText(part.type, notation))};
    const std::vector<std::string> names = fieldNamesOf(*part.type);
    auto field = fieldAt(names, path);
    if (!field)
      return noField(*part.type, names, path, notation);
    part.type = lang::fieldTypes(types, *part.type)[*field];
    part.fields.push_back(*field);
    path.remove_prefix(std::min(names[*field].size() + 1, path.size()));
  }
  return part;
}

std::string saveProblem(lang::TypeContext& types, const lang::Type* type,
                        const std::vector<std::string>& words, lang::Notation notation) {
  for (const std::string& word : words) {
    const Save save = readSave(word);
    auto part = partOf(types, type, save.part, notation);
    if (!part)
      return part.failure().message;
    if (auto good = checkOutput(save.path, part->type, false, notation); !good)
      return good.failure().message;
  }
  return {};
}

std::string saveParts(lang::TypeContext& types, const lang::Type* type,
                      const std::vector<std::string>& words, const runtime::Value& result,
                      lang::Notation notation) {
  for (const std::string& word : words) {
    const Save save = readSave(word);
    auto part = partOf(types, type, save.part, notation);
    if (!part)
      return part.failure().message;
    if (auto saved = writePart(save.path, part->of(result)); !saved)
      return saved.failure().message;
  }
  return {};
}

} // namespace driver
