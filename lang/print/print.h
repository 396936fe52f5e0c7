// The printer: a module as Relay's text format writes it, so that the text reads back as the same
// module and Relay's own tools can read it too.
//
// Temporaries are printed as the graph that they stand for: in place where a value has one use at
// the end of a block or in a let, else as a line `%N = ...;` where it is first needed. What has no
// literal is a reference `meta[KEY][i]` into a table that comes with the text.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"

namespace lang {

struct PrintOptions {
  /// The types of the module: they stand in signatures and at binders, and as comments
  /// `/* ty=T */` behind values and binders. Without them only what was written is.
  const Typing* types = nullptr;
  /// Tensors of no more elements are written as literals, `[1f, 2f]`, where there are some for
  /// their type; TVM has none, and without this all tensors are in the metadata section.
  int64_t mostInLiteral = 0;
};

/// A text and the objects that it refers to.
struct Printed {
  std::string text;
  /// In order of first mention; empty unless `needsMetadata`.
  MetadataTable metadata;
  bool needsMetadata = false;
};

/// A whole module with its header; the text ends in a line break.
Printed printModule(const Module& module, const OperatorTable& operators,
                    const PrintOptions& options = {});

/// One definition without a header, `def @name(...) {...}`, and a line break.
Printed printGlobal(const Module& module, const Global& global, const OperatorTable& operators,
                    const PrintOptions& options = {});

/// One expression of a module without a header, and a line break. Variables that it does not bind
/// are announced by lines `free_var %x;`.
Printed printExpr(const Module& module, const Expr& expr, const OperatorTable& operators,
                  const PrintOptions& options = {});

} // namespace lang
