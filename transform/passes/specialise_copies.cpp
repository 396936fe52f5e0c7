// From a call to a request, from a request to a copy.
#include "transform/passes/specialise_copies.h"

#include "lang/op/op.h"

#include <algorithm>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// Where growth ends: copies that copies of the same definition ask for, all copies, types, and
/// known functions that capture others.
constexpr size_t mostNested = 8, mostCopies = 2'000, largestType = 400, deepestKnown = 3,
                 largestKnown = 64;

} // namespace

bool isOfType(const TypeParameter* parameter) {
  return parameter->kind != ParameterKind::Dimension;
}

bool holdsGeneric(const Type* type) {
  return !type->generics.empty() || (type->result && holdsGeneric(type->result)) ||
         std::ranges::any_of(type->parts, holdsGeneric);
}

bool hasTypeParameters(const Function& function, const Typing& typing) {
  return std::ranges::any_of(typing.generics(function), isOfType);
}

Copies::Copies(const Module& from, Builder& into, const PassContext& context, LocalFunctions locals)
    : into_(into), typing_(context.typing), findings_(context.findings), locals_(locals),
      known_(from), free_(freeVariables(from)), firstVar_(from.varCount), varCount_(from.varCount) {
  for (const Global* global : from.globals)
    names_.emplace(global->name);
}

// Types.

const Type* Copies::shown(const Type* type, const Code& code) {
  const Type* here = code.instance(type);
  return here && facts_.isShown(here) ? here : nullptr;
}

const Type* Copies::typeOf(const Expr& atom, const Code& code) {
  const auto* global = atom.as<Global>();
  if (!global || !global->function)
    return code.instance(typing_.of(atom));
  const Type* type = functionType(into_.types, *global->function, typing_);
  bool isPlain = type && type->generics.empty() && !type->hasSymbol;
  return isPlain ? type : nullptr;
}

/// What the type parameters of a global stand for that are types; nothing where it is not known.
std::optional<Instance> Copies::typeInstance(const Request& request) {
  const Function& function = request.function();
  std::vector<const TypeParameter*> open;
  std::ranges::copy_if(typing_.generics(function), std::back_inserter(open), isOfType);
  Instance instance(into_.types);
  instance.open(open, false);
  for (size_t i = 0; i < request.arguments.size(); ++i)
    instance.match(typing_.of(*function.parameters[i]), request.arguments[i]);
  instance.match(typing_.result(function), request.result);
  const Type* unit = into_.types.tuple({});
  bool isTold = std::ranges::count(request.arguments, nullptr) == 0;
  for (const TypeParameter* parameter : open) {
    const Type* type = instance.of(parameter);
    // What nothing determines may be anything.
    if (!type && isTold)
      type = unit;
    TypeNames names;
    names.add(type);
    // A generic function that a parameter stands for is one value; in a copy each use of it would
    // be an instance.
    if (!type || !names.parameters.empty() || type->size > largestType || holdsGeneric(type))
      return std::nullopt;
    TypeParts parts{into_.types, [](const Dim* dim) { return dim; },
                    [&](const Type*) { return unit; }};
    type = parts(type);
    if (!facts_.isShown(type))
      return std::nullopt;
    instance.set(parameter, type);
  }
  return instance;
}

// Known functions.

const KnownValue* Copies::known(const Expr& atom, const Type* wanted, const Code& code,
                                size_t level) {
  const Expr& origin = known_.origin(atom);
  if (const auto* var = origin.as<Var>()) {
    if (auto found = code.functions.find(&origin); found != code.functions.end())
      return found->second;
    const Binding* binding = isOfCopy(*var) ? nullptr : known_.binding(*var);
    bool isLiteral = binding && binding->value->kind == ExprKind::Function;
    return isLiteral ? knownLiteral(*binding, code, level) : nullptr;
  }
  const auto* global = origin.as<Global>();
  if (global ? !global->function : origin.kind != ExprKind::Constructor)
    return nullptr;
  const Expr* instance = instanceOf(origin, wanted, code);
  return &values_.emplace_back(KnownValue{fmt::format("{}", static_cast<const void*>(instance)),
                                          instance, nullptr, Instance(into_.types)});
}

/// Whether a literal is in a known function.
static bool holds(const KnownValue& known, const Binding& literal) {
  auto isIn = [&](const Capture& capture) {
    return capture.function && holds(*capture.function, literal);
  };
  return known.literal == &literal || std::ranges::any_of(known.captures, isIn);
}

const KnownValue* Copies::knownLiteral(const Binding& binding, const Code& code, size_t level) {
  auto [memo, isNew] = literals_.try_emplace({&binding, &code, level});
  if (!isNew || level > deepestKnown)
    return memo->second;
  const auto& literal = static_cast<const Function&>(*binding.value);
  KnownValue value{fmt::format("{}[{}]", literal.number, code.instance.key()), nullptr, &binding,
                   code.instance};
  for (const Var* var : free_.of[literal.number]) {
    if (var == binding.var)
      continue;
    const Type* type = typing_.of(*var);
    const KnownValue* function = nullptr;
    if (type && type->kind == TypeKind::Function && known_.binding(*var) != &binding)
      function = known(*var, code.instance(type), code, level + 1);
    // A function that holds itself would be another one at every call.
    if (function && function->depth < deepestKnown && value.size + function->size <= largestKnown &&
        !holds(*function, binding)) {
      value.size += function->size;
      value.captures.push_back({var, function});
      value.key += fmt::format("({})", function->key);
      value.depth = std::max(value.depth, function->depth + 1);
      continue;
    }
    ++value.size;
    value.captures.push_back({var, nullptr, var, shown(type, code)});
    value.key += fmt::format("({})", static_cast<const void*>(value.captures.back().type));
    if (!value.captures.back().type)
      return nullptr;
  }
  return memo->second = &values_.emplace_back(std::move(value));
}

/// The values that a known function captures, as `install` takes them.
static void addCaptured(const KnownValue& known, std::vector<Capture>& list) {
  for (const Capture& capture : known.captures)
    if (capture.function)
      addCaptured(*capture.function, list);
  for (const Capture& capture : known.captures)
    if (!capture.function)
      list.push_back(capture);
}

static std::vector<Capture> captured(std::span<const KnownValue* const> known) {
  std::vector<Capture> list;
  for (const KnownValue* each : known)
    if (each)
      addCaptured(*each, list);
  return list;
}

// Requests.

/// Asks for a copy without the parameters that are known, whose types are those of the caller.
bool Copies::specialiseFunctions(Request& request) {
  const Function& function = request.function();
  Instance& instance = request.instance;
  instance.open(typing_.generics(function), true);
  for (size_t i = 0; i < function.parameters.size(); ++i)
    instance.match(typing_.of(*function.parameters[i]), request.arguments[i]);
  instance.match(typing_.result(function), request.result);
  TypeNames& names = request.names;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Type* type = instance(typing_.of(*function.parameters[i]));
    request.parameterTypes.push_back(type);
    if (request.known[i])
      continue;
    if (!type || !facts_.isShown(type))
      return false;
    names.add(type);
  }
  for (const Capture& capture : captured(request.known))
    names.add(capture.type);
  request.resultType = instance(typing_.result(function));
  names.add(request.resultType);
  // A size that no argument tells by itself could not be found at a call.
  auto isTold = [&](const Dim* dim) { return names.extents.contains(dim); };
  return request.resultType && facts_.isShown(request.resultType) && names.parameters.empty() &&
         std::ranges::all_of(names.dims, isTold);
}

/// Asks for a copy with the same parameters. Sizes with names in what type parameters stand for
/// become names of the copy, so that it serves all of them.
bool Copies::specialiseTypes(Request& request) {
  const Function& function = request.function();
  TypeNames taken, told;
  for (const Var* parameter : function.parameters)
    taken.add(typing_.of(*parameter));
  std::unordered_set<std::string_view> names;
  for (const Dim* dim : taken.dims)
    names.insert(dim->name);
  std::unordered_map<const Dim*, const Dim*> sizes;
  size_t count = 0;
  auto sizeName = [&] {
    std::string name;
    do
      name = count == 0 ? "d" : fmt::format("d{}", count);
    while (++count, names.contains(name));
    return arena_.copyText(name);
  };
  TypeParts generalise{into_.types,
                       [&](const Dim* dim) {
                         if (!dim->hasSymbol)
                           return dim;
                         const Dim*& size = sizes[dim];
                         return size ? size
                                     : size = into_.types.symbol(into_.arena.copyText(sizeName()));
                       },
                       [](const Type* type) { return type; }};
  for (const TypeParameter* parameter : typing_.generics(function))
    if (isOfType(parameter))
      request.instance.set(parameter, generalise(request.instance.of(parameter)));
  for (const Var* parameter : function.parameters) {
    request.parameterTypes.push_back(request.instance(typing_.of(*parameter)));
    told.add(request.parameterTypes.back());
  }
  request.resultType = request.instance(typing_.result(function));
  return std::ranges::all_of(sizes, [&](auto& size) { return told.extents.contains(size.second); });
}

static bool isSaid(const Function& function, const Instance& instance, const TypeNames& told) {
  std::optional<TypeNames> names = declaredNames(function, std::cref(instance));
  auto isTold = [&](const Dim* dim) { return !dim->parameter || told.dims.contains(dim); };
  return names && names->parameters.empty() && std::ranges::all_of(names->dims, isTold);
}

static bool isSaid(const KnownValue& known, const TypeNames& told) {
  auto isInside = [&](const Capture& capture) {
    return !capture.function || isSaid(*capture.function, told);
  };
  return (!known.literal ||
          isSaid(static_cast<const Function&>(*known.literal->value), known.instance, told)) &&
         std::ranges::all_of(known.captures, isInside);
}

/// Whether the code of a copy cannot declare its types there: a name that nothing declares means
/// some size in any definition, but a type parameter means one of the function around.
bool Copies::isRefused(const Request& request, const std::string& key) {
  auto isInside = [&](const KnownValue* known) { return !known || isSaid(*known, request.names); };
  bool isFine =
      !request.hasKnown() || (isSaid(request.function(), request.instance, request.names) &&
                              std::ranges::all_of(request.known, isInside));
  if (!isFine)
    refused_.insert(key);
  return !isFine;
}

/// How many copies of a definition lie on the way to code.
static size_t nesting(const Global* source, const Code& code) {
  size_t count = 0;
  for (const Copy* copy = code.copy; copy; copy = copy->caller)
    count += copy->source == source;
  return count;
}

Copy* Copies::find(const Request& request, const Code& code) {
  std::string key = fmt::format("{}:{}:", request.global->number, request.instance.key());
  for (const KnownValue* known : request.known)
    key += (known ? known->key : "_") + ";";
  Copy*& copy = byKey_[key];
  if (!copy && copies_.size() < mostCopies && nesting(request.global, code) < mostNested &&
      !refused_.contains(key) && !isRefused(request, key))
    copy = &make(request, code.copy);
  return copy;
}

const Expr* Copies::value(const Binding& binding, const Code& code, std::vector<Binding>& before) {
  const auto* call = binding.value->as<Call>();
  if (call && code.copy)
    checkDerivative(*call, code);
  const Expr* copied = call ? this->call(binding, *call, code) : nullptr;
  return copied ? copied : withInstances(binding, code, before);
}

/// The checker takes it that there is a derivative by a value of a type parameter; whether there is
/// shows in a copy.
void Copies::checkDerivative(const Call& call, const Code& code) {
  const auto* op = call.callee.value->as<OperatorRef>();
  if (!op || op->row->derivative == Derivative::None)
    return;
  std::vector<const Type*> operands;
  for (const Operand& argument : call.arguments)
    operands.push_back(typeOf(*argument.value, code));
  if (std::ranges::count(operands, nullptr) > 0)
    return;
  const Attributes* given = call.attributes;
  if (!given)
    given = into_.call(*op->row, {})->attributes;
  RelationResult answer = applyRelation(*op->row, {into_.types, operands, *given});
  if (answer.outcome != RelationResult::Outcome::Failed)
    return;
  auto& report = findings_.report(Message::OperatorMismatch, call.range, answer.problem);
  for (const TypeParameter* parameter : typing_.generics(*code.copy->source->function))
    if (const Type* type = isOfType(parameter) ? code.instance.of(parameter) : nullptr)
      report.note(words("`{}` is called where `{}` stands for `{}`",
                        globalName(code.copy->source->name), parameter->name, type));
}

/// A call of a copy; null where there is none.
const Expr* Copies::call(const Binding& binding, const Call& call, const Code& code) {
  const auto* global = known_.origin(*call.callee.value).as<Global>();
  const Function* function = global ? global->function : nullptr;
  if (!function || function->parameters.size() != call.arguments.size())
    return nullptr;
  Request request{.global = global, .instance = Instance(into_.types)};
  for (const Operand& argument : call.arguments)
    request.arguments.push_back(typeOf(*argument.value, code));
  request.result = code.instance(typing_.of(*binding.var));
  std::optional<Instance> instance = typeInstance(request);
  if (!instance)
    return nullptr;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Type* wanted = (*instance)(typing_.of(*function->parameters[i]));
    bool isFunction = wanted && wanted->kind == TypeKind::Function && wanted->generics.empty();
    request.known.push_back(isFunction ? known(*call.arguments[i].value, wanted, code) : nullptr);
  }
  request.instance = *instance;
  std::vector<const Type*> types = request.arguments;
  bool isAsked = request.hasKnown() && specialiseFunctions(request);
  Copy* copy = isAsked ? find(request, code) : nullptr;
  if (!copy && hasTypeParameters(*function, typing_)) {
    request = Request{
        .global = global, .arguments = types, .result = request.result, .instance = *instance};
    request.known.resize(types.size());
    copy = specialiseTypes(request) ? find(request, code) : nullptr;
  }
  if (!copy)
    return nullptr;
  std::vector<Operand> arguments;
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (!request.known[i])
      arguments.push_back(call.arguments[i]);
  for (const Capture& capture : captured(request.known))
    arguments.push_back({capture.value, call.range});
  Call* made = arena_.make<Call>(call);
  made->callee.value = copy->made;
  made->arguments = arena_.copy(arguments);
  return made;
}

// Copies.

std::string Copies::name(const Request& request) {
  std::string base(request.global->name);
  if (!request.hasKnown()) {
    std::string types;
    for (const TypeParameter* parameter : typing_.generics(request.function()))
      if (isOfType(parameter))
        types += "_" + typeText(request.instance.of(parameter));
    bool isWord =
        std::ranges::all_of(types, [](char c) { return std::isalnum(uint8_t(c)) || c == '_'; });
    if (isWord && names_.insert(base + types).second)
      return base + types;
  }
  for (size_t& i = numbers_[base];;)
    if (std::string name = fmt::format("{}_{}", base, ++i); names_.insert(name).second)
      return name;
}

const Var* Copies::var(const Var* like, const Type* type) {
  return arena_.make<Var>(Expr{ExprKind::Var, like->range}, like->name.empty() ? "v" : like->name,
                          VarOrigin::Parameter, varCount_++, type);
}

Copy& Copies::make(const Request& request, const Copy* caller) {
  Copy& copy = copies_.emplace_back(
      Copy{into_.declare(name(request)), request.global, caller, nullptr, {request.instance}});
  copy.body.copy = &copy;
  made_.insert(copy.made);
  const Function& old = request.function();
  Function* function = arena_.make<Function>(old);
  const Type* result = request.resultType;
  function->resultAnnotation = result && facts_.isShown(result) ? result : nullptr;
  std::vector<const TypeParameter*> generics;
  copy.function = function;
  if (request.hasKnown()) {
    std::vector<const Var*> parameters = install(copy, request);
    function->parameters = arena_.copy(parameters);
    // In the order in which the types say them, so that it is always the same.
    for (const Var* parameter : parameters) {
      TypeNames names;
      names.add(parameter->annotation);
      for (const Dim* dim : names.dims)
        if (dim->parameter && std::ranges::count(generics, dim->parameter) == 0)
          generics.push_back(dim->parameter);
    }
  } else {
    for (const TypeParameter* parameter : typing_.generics(old))
      if (!isOfType(parameter))
        generics.push_back(parameter);
  }
  function->generics = arena_.copy(generics);
  return copy;
}

/// Says in front of the body what the parameters are, and gives those of the copy. Names of the
/// literals' own code come before those of the body, which may be the same.
std::vector<const Var*> Copies::install(Copy& copy, const Request& request) {
  std::vector<const Var*> kept, extra;
  std::vector<Prefix> names;
  for (size_t i = 0; i < request.known.size(); ++i) {
    const Var* parameter = request.function().parameters[i];
    const Expr* atom = nullptr;
    if (const KnownValue* known = request.known[i]) {
      const KnownValue* inside = nullptr;
      atom = install(copy, *known, inside, extra);
      copy.body.functions[parameter] = inside;
    } else {
      kept.push_back(var(parameter, request.parameterTypes[i]));
      atom = kept.back();
    }
    names.push_back({{parameter, atom, parameter->range}});
  }
  copy.prefix.insert(copy.prefix.end(), names.begin(), names.end());
  kept.insert(kept.end(), extra.begin(), extra.end());
  return kept;
}

/// Makes a known function inside of a copy, from parameters for what it captures.
const Expr* Copies::install(Copy& copy, const KnownValue& known, const KnownValue*& inside,
                            std::vector<const Var*>& parameters) {
  KnownValue& own = values_.emplace_back(known);
  inside = &own;
  if (known.atom)
    return known.atom;
  Code& code = codes_.emplace_back(Code{known.instance, {}, &copy});
  std::vector<Prefix> names;
  for (Capture& capture : own.captures)
    if (capture.function) {
      const Expr* atom = install(copy, *capture.function, capture.function, parameters);
      code.functions[&known_.origin(*capture.var)] = capture.function;
      names.push_back({{capture.var, atom, capture.var->range}});
    }
  for (Capture& capture : own.captures)
    if (!capture.function) {
      parameters.push_back(var(capture.var, capture.type));
      capture.value = parameters.back();
      // What the literal is that it was made of has no meaning here.
      code.functions.try_emplace(&known_.origin(*capture.var), nullptr);
      names.push_back({{capture.var, capture.value, capture.var->range}});
    }
  copy.prefix.insert(copy.prefix.end(), names.begin(), names.end());
  copy.prefix.push_back({*known.literal, &code});
  const Var* result = var(known.literal->var, nullptr);
  copy.prefix.push_back({{result, known.literal->var, known.literal->place}});
  return result;
}

} // namespace transform
