// Attributes are described by the operator's row, sizes by the parameters that have them and by
// what the checker found that the definition needs of them.
#include "driver/session/describe_surface.h"

#include "stdlib/operator_reference.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace surface = parser::surface;

namespace {

std::optional<Hover> describeAttribute(const Session& session, const SurfaceAt& at) {
  const auto* callee = surface::tryAs<surface::Name>(at.call->callee);
  const lang::OperatorRow* op = callee ? session.operators().find(callee->name) : nullptr;
  if (!op)
    return std::nullopt;
  auto row = std::ranges::find(op->attributes, at.attribute->key.text, &lang::AttributeRow::name);
  if (row == op->attributes.end())
    return std::nullopt;
  std::string byDefault = row->defaultText.empty()
                              ? "which must be given"
                              : fmt::format("by default `{}`", row->defaultText);
  return Hover{at.range, "attribute", std::string(row->name),
               std::string(stdlib::kindName(row->kind)),
               fmt::format("of `{}`, {}\n{}", op->name, byDefault, row->doc)};
}

bool mentions(const surface::Dim& root, std::string_view name) {
  std::vector<const surface::Dim*> open{&root};
  while (!open.empty()) {
    const surface::Dim* dim = open.back();
    open.pop_back();
    if (dim->kind == surface::DimKind::Named && dim->name == name)
      return true;
    if (dim->left) {
      open.push_back(dim->left);
      open.push_back(dim->right);
    }
  }
  return false;
}

/// Where the sizes of a parameter come from, in words.
class Origins {
public:
  Origins(const Program& program, std::string_view name) : program_(program), name_(name) {}

  void add(const surface::Parameter& parameter) {
    add(parameter.type, lang::localName(parameter.name.text).in(program_.notation()));
  }

  std::string text() const {
    std::string list;
    for (size_t i = 0; i < origins_.size() && i < mostShown; ++i)
      list += (i == 0 ? "" : ", ") + origins_[i];
    return origins_.size() > mostShown ? list + ", ..." : list;
  }

private:
  static constexpr size_t mostShown = 4;

  std::string written(lang::SourceRange range) const {
    return std::string(program_.source->text().substr(range.begin - program_.source->base(),
                                                      range.end - range.begin));
  }

  void add(const surface::Type* type, const std::string& path) {
    if (!type || origins_.size() > mostShown)
      return;
    if (const auto* tuple = surface::tryAs<surface::TupleType>(type))
      for (size_t i = 0; i < tuple->fields.size(); ++i)
        add(tuple->fields[i], fmt::format("{}.{}", path, i));
    const auto* tensor = surface::tryAs<surface::TensorType>(type);
    for (size_t i = 0; tensor && i < tensor->shape.size(); ++i) {
      const surface::Dim& dim = tensor->shape[i];
      if (!mentions(dim, name_))
        continue;
      bool isAlone = dim.kind == surface::DimKind::Named;
      origins_.push_back(isAlone ? fmt::format("dimension {} of `{}`", i, path)
                                 : fmt::format("dimension {} of `{}`, which is `{}`", i, path,
                                               written(dim.range)));
    }
  }

  const Program& program_;
  std::string_view name_;
  std::vector<std::string> origins_;
};

/// The function around a place and its name; the first is null in a data type.
struct Owner {
  const surface::Function* function = nullptr;
  std::string name;
  std::span<const surface::Identifier> generics = {};
};

Owner ownerOf(const Program& program, const SurfaceAt& at) {
  if (!at.definition) {
    const auto* literal = surface::tryAs<surface::FunctionLiteral>(program.tree->expr);
    return literal ? Owner{literal->function, "this function", literal->function->generics}
                   : Owner{};
  }
  if (const auto* type = surface::tryAs<surface::TypeDefinition>(at.definition))
    return {nullptr, fmt::format("type `{}`", type->name.text), type->generics};
  const auto* function = surface::tryAs<surface::FunctionDefinition>(at.definition);
  return function ? Owner{function->function,
                          fmt::format("`{}`",
                                      lang::globalName(function->name.text).in(program.notation())),
                          function->function->generics}
                  : Owner{nullptr, fmt::format("`{}`", at.definition->name.text)};
}

/// What the checker found that the definition needs of the size.
std::string needsText(const Program& program, const SurfaceAt& at, const Owner& owner) {
  std::string name(at.definition ? at.definition->name.text : std::string_view("main"));
  const lang::Global* global = program.module ? program.module->find(name) : nullptr;
  if (!global || !global->function)
    return "";
  std::string text;
  for (const lang::Requirement& need : program.typing.requirements(*global->function))
    if (lang::dimText(need.dim) == at.dim->name && (need.least > 0 || need.divisor > 1))
      text += fmt::format(
          "\n{} needs it to be {}{}{}", owner.name,
          need.divisor > 1 ? fmt::format("a multiple of {}", need.divisor)
                           : fmt::format("at least {}", need.least),
          need.divisor > 1 && need.least > 0 ? fmt::format(" and at least {}", need.least) : "",
          need.row ? fmt::format(", for `{}`", need.row->name) : "");
  return text;
}

Hover describeSize(const Program& program, const SurfaceAt& at) {
  Owner owner = ownerOf(program, at);
  std::string_view name = at.dim->name;
  Hover hover{at.range, R"(size)", std::string(name)};
  if (std::ranges::find(owner.generics, name, &surface::Identifier::text) != owner.generics.end())
    hover.doc = fmt::format("a parameter of {}", owner.name);
  Origins origins(program, name);
  if (owner.function)
    for (const surface::Parameter& parameter : owner.function->parameters)
      origins.add(parameter);
  if (std::string places = origins.text(); !places.empty())
    hover.doc += fmt::format("{}{}", hover.doc.empty() ? "" : "\n", places);
  if (hover.doc.empty())
    hover.doc =
        owner.function ? fmt::format("of no parameter of {}", owner.name) : "of no parameter";
  hover.doc += needsText(program, at, owner);
  return hover;
}

} // namespace

std::optional<Hover> describeSurface(const Session& session, const Program& program,
                                     const SurfaceAt& at) {
  if (at.attribute)
    return describeAttribute(session, at);
  if (at.dim)
    return describeSize(program, at);
  return std::nullopt;
}

} // namespace driver
