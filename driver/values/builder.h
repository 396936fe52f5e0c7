// Values made from the outside in, whatever they are read from: the type says what comes next.
//
// Values may be deep, so there is a stack of those that are open, and nobody recurses.
#pragma once

#include "lang/calls/run_value.h"
#include "runtime/result.h"

#include <deque>
#include <functional>
#include <map>

namespace driver {

/// The constructors of a data type such as List: one without fields, and one with an item and the
/// rest.
struct ListConstructors {
  const lang::Constructor* empty;
  const lang::Constructor* link;
};
/// Nothing for other data types.
std::optional<ListConstructors> listConstructors(const lang::TypeDefinition& definition);

/// Whether a value of the type is what its fields are, since it has one constructor.
bool isRecord(const lang::TypeDefinition& definition);

/// Whether values of the type have parts, and are not tensors.
bool isStructured(const lang::Type& type);

/// Instances of data types: what the fields of their constructors are.
class FieldTypes {
public:
  explicit FieldTypes(lang::TypeContext& types) : types_(types) {}

  lang::TypeContext& types() const { return types_; }

  /// What the fields of one value of the type must be: a name of a size in their declarations is
  /// the same in all of them, and another one in the next value.
  const std::vector<const lang::Type*>& of(const lang::Constructor& constructor,
                                           const lang::Type* type);

private:
  lang::TypeContext& types_;
  /// Of those without names of sizes.
  std::map<std::pair<const lang::Constructor*, const lang::Type*>, std::vector<const lang::Type*>>
      known_;
  std::deque<std::vector<const lang::Type*>> own_;
};

class ValueBuilder {
public:
  /// `root` is what paths begin with; messages speak `notation`.
  ValueBuilder(const lang::Type* type, lang::TypeContext& types, std::string root,
               lang::Notation notation)
      : type_(type), fieldTypes_(types), root_(std::move(root)), notation_(notation) {}

  /// The type of the part that comes next; there must be one.
  const lang::Type* wanted() const {
    return open_.empty() ? type_ : (*open_.back().types)[open_.back().fields.size()];
  }
  /// A builder of that part alone.
  ValueBuilder part() const { return {wanted(), fieldTypes_.types(), path(), notation_}; }
  /// The text of its type, for messages.
  std::string wantedText() const { return lang::typeText(wanted(), notation_); }
  lang::Notation notation() const { return notation_; }
  /// The name of the field that it is, if that has one.
  std::string_view wantedName() const;
  /// How many values are open.
  size_t depth() const { return open_.size(); }
  /// Whether the innermost open value has all its fields.
  bool isFull() const { return open_.back().fields.size() == open_.back().types->size(); }
  /// The path of the part that comes next, `ROOT.layers.3.w` (part_names.h); of a very long one
  /// the middle is left out.
  /// Not for every part of a deep value, since it takes a look at all that is open.
  std::string path() const;

  /// Begins the part, a tuple.
  void openTuple();
  /// Begins the part, of a data type.
  void open(const lang::Constructor& constructor);
  /// Gives the part.
  void put(runtime::Value value);
  /// Ends the innermost open value, which is full.
  void close();
  /// Ends all that are full.
  void closeFull();
  /// The whole value, when nothing is open.
  const runtime::Value& value() const { return done_; }

private:
  /// A tuple, or what a constructor makes, and its fields so far.
  struct Open {
    const lang::Constructor* constructor;
    const std::vector<const lang::Type*>* types;
    std::vector<runtime::Value> fields = {};
  };

  static std::string partName(const Open& open);

  const lang::Type* type_;
  FieldTypes fieldTypes_;
  std::string root_;
  lang::Notation notation_;
  std::map<const lang::Type*, std::vector<const lang::Type*>> tuples_;
  std::vector<Open> open_;
  runtime::Value done_;
};

/// Takes a tensor for the part that comes next: the tensor itself, or one that fits better; the
/// error says why it does not fit.
using AcceptTensor =
    std::function<runtime::Result<runtime::Tensor>(const ValueBuilder&, runtime::Tensor)>;

/// Says that no file and no text has values of the type, if it is one of functions or the like.
std::optional<runtime::Error> unreadable(const ValueBuilder& builder);

/// The constructor of that name for the part that comes next, which is of a data type.
runtime::Result<const lang::Constructor*> constructorNamed(const ValueBuilder& builder,
                                                           std::string_view name);

} // namespace driver
