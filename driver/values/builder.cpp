// Types are interned, so what is found out of one holds for all its values; only fields with names
// of sizes differ from value to value.
#include "driver/values/builder.h"

#include "driver/values/part_names.h"
#include "lang/ir/fields.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace driver {

using lang::Constructor;
using lang::Dim;
using lang::Type;
using lang::TypeKind;
using runtime::Error;

std::optional<ListConstructors> listConstructors(const lang::TypeDefinition& definition) {
  if (definition.constructors.size() != 2)
    return std::nullopt;
  ListConstructors found{definition.constructors[0], definition.constructors[1]};
  if (!found.empty->fields.empty())
    std::swap(found.empty, found.link);
  const lang::Types fields = found.link->fields;
  bool isList = found.empty->fields.empty() && fields.size() == 2 &&
                fields[1]->kind == TypeKind::Data && fields[1]->definition == &definition;
  return isList ? std::optional(found) : std::nullopt;
}

bool isRecord(const lang::TypeDefinition& definition) {
  return definition.constructors.size() == 1;
}

bool isStructured(const Type& type) {
  return type.isTuple() || type.kind == TypeKind::Data;
}

const std::vector<const Type*>& FieldTypes::of(const Constructor& constructor, const Type* type) {
  const auto place = std::pair(&constructor, type);
  if (auto found = known_.find(place); found != known_.end())
    return found->second;
  std::unordered_map<const Dim*, const Dim*> names;
  const auto& generics = type->definition->generics;
  auto argumentOf = [&](const lang::TypeParameter* parameter) {
    auto found = parameter ? std::ranges::find(generics, parameter) : generics.end();
    return found == generics.end() ? nullptr : type->parts[size_t(found - generics.begin())];
  };
  auto argument = [&](const Type* variable) {
    const Type* given = argumentOf(variable->parameter);
    return given ? given : variable;
  };
  auto own = [&](const Dim* dim) {
    if (dim->kind != lang::DimKind::Symbol)
      return dim;
    if (const Type* given = argumentOf(dim->parameter); given && given->kind == TypeKind::Dimension)
      return given->shape[0];
    const Dim*& name = names[dim];
    if (!name)
      name = types_.symbol(
          types_.arena().make<lang::TypeParameter>(dim->name, lang::ParameterKind::Dimension));
    return name;
  };
  auto inForm = [&](const Dim* form) { return types_.substitute(form, own); };
  std::vector<const Type*> fields;
  for (const Type* field : constructor.fields)
    fields.push_back(lang::rebuilt(types_, field, argument, inForm));
  return names.empty() ? known_[place] = std::move(fields) : own_.emplace_back(std::move(fields));
}

std::string ValueBuilder::path() const {
  constexpr size_t longest = 100;
  std::vector<std::string> parts;
  size_t links = 0;
  for (const Open& each : open_) {
    const bool isLink = each.constructor && listConstructors(*each.constructor->definition);
    if (isLink && each.fields.size() == 1) {
      ++links;
      continue;
    }
    parts.push_back(isLink ? std::to_string(links) : partName(each));
    links = 0;
  }
  if (links > 0)
    parts.push_back(std::to_string(links));
  if (parts.size() > longest) {
    parts.erase(parts.begin() + longest / 2, parts.end() - longest / 2);
    parts.insert(parts.begin() + longest / 2, "..");
  }
  return parts.empty() ? root_ : partKey(root_, fmt::format("{}", fmt::join(parts, ".")));
}

std::string_view ValueBuilder::wantedName() const {
  if (open_.empty() || !open_.back().constructor)
    return {};
  const auto& names = open_.back().constructor->fieldNames;
  const size_t field = open_.back().fields.size();
  return field < names.size() ? names[field] : std::string_view();
}

std::string ValueBuilder::partName(const Open& open) {
  if (!open.constructor)
    return std::to_string(open.fields.size());
  std::string field = fieldName(*open.constructor, open.fields.size());
  return isRecord(*open.constructor->definition)
             ? field
             : partKey(std::string(shortName(*open.constructor)), field);
}

void ValueBuilder::openTuple() {
  const Type* type = wanted();
  std::vector<const Type*>& types = tuples_[type];
  if (types.empty())
    types.assign(type->parts.begin(), type->parts.end());
  open_.push_back({nullptr, &types});
}

void ValueBuilder::open(const Constructor& constructor) {
  open_.push_back({&constructor, &fieldTypes_.of(constructor, wanted())});
}

void ValueBuilder::put(runtime::Value value) {
  if (open_.empty())
    done_ = std::move(value);
  else
    open_.back().fields.push_back(std::move(value));
}

void ValueBuilder::close() {
  Open closed = std::move(open_.back());
  open_.pop_back();
  put(closed.constructor ? lang::constructorValue(*closed.constructor, std::move(closed.fields))
                         : runtime::tupleValue(std::move(closed.fields)));
}

void ValueBuilder::closeFull() {
  while (!open_.empty() && isFull())
    close();
}

std::optional<Error> unreadable(const ValueBuilder& builder) {
  const Type& type = *builder.wanted();
  if (type.isTensor() || isStructured(type))
    return std::nullopt;
  return Error{fmt::format("there are no literals for {}; {}is `{}`",
                           type.kind == TypeKind::Function    ? "functions"
                           : type.kind == TypeKind::Reference ? "references"
                                                              : "values of any type",
                           builder.depth() == 0 ? "it " : fmt::format("`{}` ", builder.path()),
                           builder.wantedText())};
}

runtime::Result<const Constructor*> constructorNamed(const ValueBuilder& builder,
                                                     std::string_view name) {
  const lang::TypeDefinition& definition = *builder.wanted()->definition;
  // One of an imported file goes by its last word too, whatever stands for the file.
  auto found = std::ranges::find_if(definition.constructors, [&](const Constructor* each) {
    return each->name == name || shortName(*each) == name.substr(name.rfind('.') + 1);
  });
  if (found != definition.constructors.end())
    return *found;
  std::vector<std::string_view> names;
  for (const Constructor* each : definition.constructors)
    names.push_back(each->name);
  return Error{fmt::format("{}{} is no constructor of `{}`, which has {}",
                           builder.depth() == 0 ? "" : fmt::format("in `{}`, ", builder.path()),
                           formats::backquoted(name), definition.name,
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
}

} // namespace driver
