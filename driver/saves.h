// Parts of a result that `--save` writes into files: `layers.out=FILE`, or `FILE` for the whole.
#pragma once

#include "driver/values/files.h"

namespace driver {

/// A word of `--save`.
struct Save {
  /// The path of the part, empty for the whole result.
  std::string_view part;
  std::string path;
};
Save readSave(std::string_view word);

/// A part of a result: the fields that lead there, from the outside in.
struct ResultPart {
  const lang::Type* type;
  std::vector<size_t> fields = {};

  const runtime::Value& of(const runtime::Value& result) const;
};

/// The part of a path in values of a type, through tuples and records; the error speaks `notation`.
runtime::Result<ResultPart> partOf(lang::TypeContext& types, const lang::Type* type,
                                   std::string_view path, lang::Notation notation);

/// What stands in the way of words of `--save` for results of a type, or empty; to be asked before
/// a long run.
std::string saveProblem(lang::TypeContext& types, const lang::Type* type,
                        const std::vector<std::string>& words, lang::Notation notation);

/// Writes the parts of a result of a type; what went wrong, or empty.
std::string saveParts(lang::TypeContext& types, const lang::Type* type,
                      const std::vector<std::string>& words, const runtime::Value& result,
                      lang::Notation notation);

} // namespace driver
