// What is made is a definition as people would write it, so nobody behind knows of it:
//
//   type Net { hidden: nn.Linear[3, 4], out: nn.Linear[4, 2] }
//   =>
//   def net_init(key) -> Net {
//     let (own, key) = random.threefry_split(key);
//     Net(nn.Linear.init(own), nn.Linear.init(key))
//   }
#include "parser/resolve/initialisers.h"

#include "lang/ir/record_function.h"
#include "lang/op/op.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

const surface::TypeDefinition* findRecord(const Unit& unit, std::string_view name) {
  auto found = unit.types.find(name);
  const surface::TypeDefinition* type = found == unit.types.end() ? nullptr : found->second.surface;
  bool isRecord =
      type && type->constructors.size() == 1 && !type->constructors[0].fieldNames.empty();
  return isRecord ? type : nullptr;
}

/// The first field of a type that is no data type, and so made by nobody; null where there is none.
const surface::Type* unmadeField(const Unit& unit, const surface::TypeDefinition& record) {
  for (const surface::Type* field : record.constructors[0].fields) {
    const auto* named = surface::tryAs<surface::NamedType>(field);
    bool isImported = named && Definitions::imported(unit, named->name);
    auto own = named ? unit.types.find(named->name) : unit.types.end();
    bool isMade = isImported || (own != unit.types.end() && !own->second.surface->alias);
    if (!isMade)
      return field;
  }
  return nullptr;
}

class Maker {
public:
  Maker(ResolveContext& context, const surface::TypeDefinition& record)
      : arena_(context.module.arena), operators_(context.environment.operators), record_(record),
        range_(record.name.range) {}

  const surface::FunctionDefinition* made(std::string_view name) {
    std::vector<surface::Item> items;
    std::vector<const surface::Expr*> values;
    std::span<const surface::Type* const> fields = record_.constructors[0].fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      bool isLast = i + 1 == fields.size();
      std::string_view own = isLast ? "key" : arena_.copyText(fmt::format("key{}", i));
      if (!isLast)
        items.push_back(split(own));
      values.push_back(made(surface::as<surface::NamedType>(fields[i]), own));
    }
    auto* body = node<surface::Sequence>();
    body->items = arena_.copy(items);
    body->result = call(this->name(record_.name.text), values);
    body->depth = uint16_t(body->result->depth + 1);
    auto* function = arena_.make<surface::Function>();
    function->range = range_;
    function->parameters = arena_.copy(std::vector{surface::Parameter{{"key", range_}}});
    function->result = resultType();
    function->body = body;
    auto* definition = arena_.make<surface::FunctionDefinition>();
    definition->kind = surface::DefinitionKind::Function;
    definition->range = range_;
    definition->name = {name, range_};
    definition->function = function;
    return definition;
  }

private:
  template <typename Node>
  Node* node() {
    auto* made = arena_.make<Node>();
    made->kind = Node::tag;
    made->range = range_;
    return made;
  }

  const surface::Expr* name(std::string_view text) {
    auto* made = node<surface::Name>();
    made->name = text;
    return made;
  }

  const surface::Expr* field(const surface::Expr* operand, std::string_view text) {
    auto* made = node<surface::Field>();
    made->name = {text, range_};
    made->operand = operand;
    return made;
  }

  const surface::Expr* call(const surface::Expr* callee,
                            const std::vector<const surface::Expr*>& arguments) {
    auto* made = node<surface::Call>();
    made->callee = callee;
    made->arguments = arena_.copy(arguments);
    for (const surface::Expr* argument : arguments)
      made->depth = std::max(made->depth, uint16_t(argument->depth + 1));
    return made;
  }

  /// `let (own, key) = split(key);`
  surface::Item split(std::string_view own) {
    std::vector<const surface::Pattern*> parts;
    for (std::string_view part : {own, std::string_view("key")}) {
      auto* local = arena_.make<surface::LocalPattern>();
      local->kind = surface::PatternKind::Local;
      local->range = range_;
      local->name = {part, range_};
      parts.push_back(local);
    }
    auto* both = arena_.make<surface::TuplePattern>();
    both->kind = surface::PatternKind::Tuple;
    both->range = range_;
    both->fields = arena_.copy(parts);
    surface::Item item{.kind = surface::ItemKind::Let, .range = range_};
    item.pattern = both;
    item.value = call(name(operators_.withRole(lang::Role::SplitKey).name), {name("key")});
    return item;
  }

  /// `nn.Linear.init(key)`, told of where the field stands.
  const surface::Expr* made(const surface::NamedType& type, std::string_view key) {
    SourceRange before = std::exchange(range_, type.range);
    size_t dot = type.name.find('.');
    const surface::Expr* callee = name(type.name.substr(0, dot));
    if (dot != std::string_view::npos)
      callee = field(callee, type.name.substr(dot + 1));
    const surface::Expr* value = call(field(callee, initialiser), {name(key)});
    range_ = before;
    return value;
  }

  const surface::Type* resultType() {
    auto named = [this](std::string_view text) {
      auto* type = arena_.make<surface::NamedType>();
      type->kind = surface::TypeKind::Named;
      type->range = range_;
      type->name = text;
      return type;
    };
    surface::NamedType* result = named(record_.name.text);
    std::vector<const surface::Type*> sizes;
    for (const surface::Identifier& generic : record_.generics)
      sizes.push_back(named(generic.text));
    result->arguments = arena_.copy(sizes);
    result->depth = sizes.empty() ? 1 : 2;
    return result;
  }

  runtime::Arena& arena_;
  const lang::OperatorTable& operators_;
  const surface::TypeDefinition& record_;
  SourceRange range_;
};

} // namespace

const lang::Global* findInitialiser(ResolveContext& context, const Unit& unit,
                                    std::string_view type) {
  std::string name = lang::recordFunctionName(type) + "_init";
  if (!unit.globals.contains(name)) {
    const surface::TypeDefinition* record = findRecord(unit, type);
    if (!record || unmadeField(unit, *record))
      return nullptr;
    std::string_view kept = context.module.arena.copyText(name);
    context.definitions.addTo(unit, *Maker(context, *record).made(kept));
  }
  return context.definitions.findGlobal(unit, name);
}

void reportNoInitialiser(ResolveContext& context, const Unit& unit, std::string_view type,
                         SourceRange range) {
  std::string function = lang::recordFunctionName(type) + "_init";
  auto& report = context.diagnostics.report(Message::UnknownMember, range, type, initialiser);
  if (const surface::TypeDefinition* record = findRecord(unit, type))
    if (const surface::Type* field = unmadeField(unit, *record))
      report.label(field->range, "nothing says how this field is made");
  report.note(fmt::format("`def {}(key) -> {}` beside the type says it", function, type));
}

} // namespace parser
