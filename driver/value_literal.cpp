// The type that is wanted says how to read on. A list may be long, so there is a stack of the
// values that are open.
#include "driver/value_literal.h"

#include "driver/input_literal.h"
#include "formats/quote.h"
#include "lang/run_value.h"
#include "typecheck/unify.h"

#include <fmt/format.h>
#include <unordered_map>

namespace driver {

using lang::Dim;
using lang::Type;
using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Value;

namespace {

using Accept = std::function<Result<Done>(const Type*, const runtime::Tensor&)>;

class ValueReader {
public:
  ValueReader(std::string_view text, lang::TypeContext& types, const Accept& accept)
      : text_(text), types_(types), unifier_(types, 0, 0), accept_(accept) {}

  Result<Value> read(const Type* type) {
    auto begun = begin(type);
    while (begun && !open_.empty())
      begun = isFull() ? close() : begin(open_.back().types[open_.back().fields.size()]);
    if (!begun)
      return begun.failure();
    skipBlanks();
    return at_ == text_.size() ? Result<Value>(std::move(done_)) : expected("the end");
  }

private:
  /// A tuple, or what a constructor makes, and its fields so far.
  struct Open {
    const lang::Constructor* constructor;
    std::vector<const Type*> types;
    std::vector<Value> fields = {};
  };

  bool isFull() const { return open_.back().fields.size() == open_.back().types.size(); }

  void skipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool skip(char mark) {
    skipBlanks();
    bool isThere = at_ < text_.size() && text_[at_] == mark;
    at_ += isThere;
    return isThere;
  }

  Error expected(std::string_view what) const {
    std::string_view rest = text_.substr(at_);
    return Error{fmt::format("{} is expected {}", what,
                             rest.empty() ? "behind it"
                                          : fmt::format("before {}", formats::backquoted(rest)))};
  }

  /// Reads a value up to its first field, or all of one that has none.
  Result<Done> begin(const Type* type) {
    if (type->isTensor())
      return tensor(type);
    if (type->isTuple()) {
      open_.push_back({nullptr, {type->parts.begin(), type->parts.end()}});
      return skip('(') ? Result<Done>(Done{}) : expected("`(`");
    }
    if (type->kind == lang::TypeKind::Data)
      return constructor(type);
    bool isFunction = type->kind == lang::TypeKind::Function;
    return Error{fmt::format("there are no literals for {}",
                             isFunction                                ? "functions"
                             : type->kind == lang::TypeKind::Reference ? "references"
                                                                       : "values of any type")};
  }

  Result<Done> constructor(const Type* type) {
    skipBlanks();
    size_t end = std::min(text_.find_first_of("(), \t\r\n", at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    std::vector<std::string_view> names;
    for (const lang::Constructor* each : type->definition->constructors)
      names.push_back(each->name);
    auto found = std::ranges::find(names, word);
    if (found == names.end())
      return Error{fmt::format("{} is no constructor of `{}`, which has {}",
                               formats::backquoted(word), type->definition->name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
    at_ = end;
    const lang::Constructor& named = *type->definition->constructors[size_t(found - names.begin())];
    if (named.fields.empty())
      return finish(lang::constructorValue(named, {}));
    open_.push_back({&named, fieldTypes(named, type)});
    return skip('(') ? Result<Done>(Done{}) : expected("`(`");
  }

  /// What the fields of one value must be: a name of a size in their declarations is the same in
  /// all of them, and another one in the next value.
  std::vector<const Type*> fieldTypes(const lang::Constructor& constructor, const Type* type) {
    std::unordered_map<const Dim*, const Dim*> names;
    auto own = [&](const Dim* dim) {
      if (dim->kind != lang::DimKind::Symbol)
        return dim;
      const Dim*& name = names[dim];
      if (!name)
        name = types_.symbol(
            types_.arena().make<lang::TypeParameter>(dim->name, lang::ParameterKind::Dimension));
      return name;
    };
    auto inForm = [&](const Dim* form) { return types_.substitute(form, own); };
    std::vector<const Type*> fields;
    for (const Type* field : constructor.fields)
      fields.push_back(unifier_.substitute(unifier_.mapDims(field, inForm),
                                           type->definition->generics, type->parts));
    return fields;
  }

  /// Reads a tensor, which ends where a comma or a parenthesis stands in none of its lists.
  Result<Done> tensor(const Type* type) {
    size_t depth = 0, end = at_;
    for (; end < text_.size() && (depth > 0 || (text_[end] != ',' && text_[end] != ')')); ++end) {
      depth += text_[end] == '[';
      depth -= text_[end] == ']' && depth > 0;
    }
    auto read = literalTensor(text_.substr(at_, end - at_), type->dtype);
    if (!read)
      return read.failure();
    if (auto good = accept_(type, *read); !good)
      return good;
    at_ = end;
    return finish(runtime::tensorValue(*std::move(read)));
  }

  /// Closes a value that has all its fields.
  Result<Done> close() {
    if (!skip(')'))
      return expected("`)`");
    Open closed = std::move(open_.back());
    open_.pop_back();
    return finish(closed.constructor
                      ? lang::constructorValue(*closed.constructor, std::move(closed.fields))
                      : runtime::tupleValue(std::move(closed.fields)));
  }

  /// Makes a value a field of what is open; a comma may stand behind the last one too.
  Result<Done> finish(Value value) {
    if (open_.empty()) {
      done_ = std::move(value);
      return Done{};
    }
    open_.back().fields.push_back(std::move(value));
    return skip(',') || isFull() ? Result<Done>(Done{}) : expected("`,`");
  }

  std::string_view text_;
  size_t at_ = 0;
  lang::TypeContext& types_;
  typecheck::Unifier unifier_;
  const Accept& accept_;
  std::vector<Open> open_;
  Value done_;
};

} // namespace

bool isStructured(const Type& type) {
  return type.isTuple() || type.kind == lang::TypeKind::Data;
}

Result<Value> valueLiteral(std::string_view text, const Type* type, lang::TypeContext& types,
                           const Accept& accept) {
  return ValueReader(text, types, accept).read(type);
}

} // namespace driver
