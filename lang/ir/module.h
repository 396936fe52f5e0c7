// A module: the definitions of a program, and the memory that holds them.
#pragma once

#include "lang/ir/expr.h"
#include "lang/ir/metadata.h"
#include "lang/source/diagnostic.h"

#include <deque>

namespace lang {

/// The form that a text had. Expression: one bare expression, kept as the body of a global named
/// `main` whose parameters are its `free_var`s. Function: one bare function literal, kept as
/// `main`.
enum class ModuleForm : uint8_t { Definitions, Expression, Function };

/// What is said of a field by name that a value has not, such as `x.sum()` of a tensor.
struct FieldHint {
  std::string says;
  std::vector<Suggestion> suggestions;
};

/// A program in core IR. Nodes live in `arena`, types in `types`, which other modules may share.
struct Module {
  explicit Module(TypeContext& context) : types(context) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  TypeContext& types;
  Arena arena;
  ModuleForm form = ModuleForm::Definitions;
  /// In the order of the text. Those of the prelude, when the program uses it, come first.
  std::vector<const TypeDefinition*> typeDefinitions;
  std::vector<const Global*> globals;
  /// How many of the above came from the prelude; the printer leaves them out.
  size_t preludeTypes = 0;
  size_t preludeGlobals = 0;
  /// Tensors of constants; a deque, so that they stay where they are.
  std::deque<runtime::Tensor> tensors;
  /// Objects of the metadata section that attributes refer to.
  MetadataTable metadata;
  /// What projections point at.
  std::deque<FieldHint> fieldHints;
  /// Whether it has open numbers and fields by name, which checking completes.
  bool isOpen = false;
  uint32_t varCount = 0;
  uint32_t functionCount = 0;
  uint32_t unknownCount = 0;
  uint32_t unknownDimCount = 0;

  /// The global of that name that has a function, or nullptr.
  const Global* find(std::string_view name) const;
};

} // namespace lang
