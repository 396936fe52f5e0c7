// Names first, then layouts, which are known by what they mean.
#include "vm/bytecode/link.h"

#include "vm/bytecode/export.h"

#include <algorithm>

namespace bytecode {

using namespace lang;
using runtime::Error;

namespace {

const Constructor* findConstructor(const Module& language, std::string_view type,
                                   std::string_view name, uint16_t tag) {
  auto definition = std::ranges::find(language.typeDefinitions, type, &TypeDefinition::name);
  if (definition == language.typeDefinitions.end())
    return nullptr;
  auto constructors = (*definition)->constructors;
  return tag < constructors.size() && constructors[tag]->name == name ? constructors[tag] : nullptr;
}

/// Whether layouts of a data type are of its constructors; the others mean nothing beyond their
/// names.
bool linkLayouts(Linked& linked, Module& language) {
  vm::Program& program = linked.executable->program;
  for (vm::Layout& layout : program.layouts)
    layout.symbol.definition = nullptr;
  for (const executable::LayoutName& each : linked.executable->dataTypes) {
    vm::Layout& layout = program.layouts[each.layout];
    const Constructor* constructor =
        findConstructor(language, each.dataType, layout.symbol.name, layout.tag);
    if (!constructor || constructor->fields.size() != layout.fields.size())
      return false;
    layout.symbol = {constructor, constructor->name};
    std::vector<std::string_view> names;
    for (const std::string& name : each.fieldNames)
      names.push_back(language.arena.copyText(name));
    constructor->fieldNames = language.arena.copy(names);
  }
  return std::ranges::all_of(program.layouts, [](const vm::Layout& layout) {
    return layout.kind != vm::LayoutKind::Data || layout.symbol.definition;
  });
}

/// Whether a global takes what an entry takes, kept alike, and its result.
bool isSignature(const Global* global, size_t entry, const Linked& linked, const Typing& typing) {
  const std::vector<executable::Port>& parameters = linked.executable->entries[entry].parameters;
  bool fits = global && global->function->parameters.size() == parameters.size() + 1;
  for (size_t i = 0; fits && i < parameters.size(); ++i)
    fits = linked.layouts.rep(typing.of(*global->function->parameters[i]), {}) ==
           linked.executable->forms[parameters[i].form].rep;
  return fits;
}

/// The call in the function of a site, if its operands and its result are kept as those of the
/// site.
std::optional<OperatorSite> siteOf(const Global* global, const vm::HostSite& site,
                                   const Layouts& layouts, const Typing& typing) {
  if (!global || global->function->parameters.size() != site.operands.size() ||
      global->function->body->bindings.empty())
    return std::nullopt;
  const Function& function = *global->function;
  const Binding& binding = function.body->bindings.front();
  const auto* call = binding.value->as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  const Type* type = function.resultAnnotation;
  bool fits = op && type && call->arguments.size() == site.operands.size() &&
              layouts.rep(type, {}) == site.result;
  for (size_t i = 0; fits && i < site.operands.size(); ++i)
    fits = layouts.rep(typing.of(*function.parameters[i]), {}).isScalar() ==
           site.operands[i].isScalar();
  return fits ? std::optional(OperatorSite{&binding, op->row, type}) : std::nullopt;
}

} // namespace

runtime::Result<std::unique_ptr<Linked>> link(std::unique_ptr<executable::Executable> executable,
                                              Module& language, const Typing& typing) {
  const Error wrong{"what it says of the language is not of this program"};
  auto linked = std::make_unique<Linked>(std::move(executable));
  const vm::Program& program = linked->executable->program;
  if (!linkLayouts(*linked, language))
    return wrong;
  linked->layouts.boxesScalars = linked->executable->boxesScalars;
  linked->layouts.takeUp();
  for (size_t i = 0; i < linked->executable->entries.size(); ++i) {
    linked->signatures.push_back(language.find(numberedName(signatureName, i)));
    if (!isSignature(linked->signatures.back(), i, *linked, typing))
      return wrong;
  }
  linked->sites.resize(program.sites.size());
  for (const executable::LanguageSite& each : linked->executable->languageSites) {
    auto site =
        siteOf(language.find(each.function), program.sites[each.site], linked->layouts, typing);
    if (!site)
      return wrong;
    linked->sites[each.site] = *site;
  }
  for (size_t i = 0; i < program.sites.size(); ++i)
    if (program.sites[i].kind == vm::SiteKind::Language && !linked->sites[i].binding &&
        program.sites[i].native == checks::none &&
        program.sites[i].kernel == vm::HostSite::noKernel)
      return wrong;
  return linked;
}

} // namespace bytecode
