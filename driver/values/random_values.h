// The reproducible fill of parameters of any type by a seed.
//
// Tensors are filled as runtime/formats/random_fill.h says, each part of a parameter with a number
// of its own. Of a data type with several constructors one is drawn evenly, but the outermost value
// of a recursive one gets parts of its own type, so that lists are not empty, and four deep, or
// when very many were drawn, the constructor that ends soonest is taken, so that values stay small.
#pragma once

#include "driver/values/input_fit.h"

#include <unordered_map>

namespace driver {

/// How soon values of types can end: how many constructors stand in each other in the flattest one.
class ValueHeights {
public:
  static constexpr size_t none = SIZE_MAX;

  explicit ValueHeights(lang::TypeContext& types) : fields_(types) {}

  /// Of the values of a constructor; `none` if there are no finite ones, or none without functions.
  size_t of(const lang::Constructor& constructor, const lang::Type* type);
  /// Of a type of any kind.
  size_t of(const lang::Type* type);
  /// Whether values of a constructor have parts of its own data type.
  bool isRecursive(const lang::Constructor& constructor, const lang::Type* type);

private:
  struct Instance {
    std::vector<std::vector<const lang::Type*>> fields;
    size_t height = none;
  };

  void explore(const lang::Type* type);
  const Instance& instance(const lang::Type* type);
  size_t known(const lang::Type* type) const;
  size_t known(const std::vector<const lang::Type*>& fields) const;

  FieldTypes fields_;
  std::unordered_map<const lang::Type*, Instance> instances_;
  std::unordered_map<const lang::Constructor*, bool> recursive_;
};

class RandomValues {
public:
  RandomValues(uint64_t seed, InputFit& fit, lang::TypeContext& types)
      : seed_(seed), fit_(fit), types_(types), heights_(types) {}

  /// A value for a parameter, whose number is its position; the error says why there is none.
  runtime::Result<runtime::Value> fill(size_t number, const lang::Var& parameter,
                                       const lang::Type* type);

private:
  /// A parameter that is being filled.
  struct Filling {
    size_t number;
    const lang::Var& parameter;
    const lang::Type* type;
    ValueBuilder builder;
    /// The types of what is open.
    std::vector<const lang::Type*> open = {};
    uint64_t tensors = 0;
    uint64_t choices = 0;
  };

  runtime::Result<runtime::Done> fillTensor(Filling& filling);
  const lang::Constructor& choose(Filling& filling);
  std::optional<int64_t> extent(const lang::Dim* dim);
  runtime::Error openShape(const Filling& filling, const lang::Dim* dim);

  uint64_t seed_;
  InputFit& fit_;
  lang::TypeContext& types_;
  ValueHeights heights_;
};

} // namespace driver
