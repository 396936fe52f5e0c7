// Builds the surface tree: one function for each production of the grammar.
//
// The builder also measures how deep the tree gets: brackets are counted by the token stream, but
// `else if` chains, function types and chains of lets nest without brackets.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/surface/list_stack.h"
#include "runtime/arena.h"

namespace parser {

class Builder {
public:
  Builder(runtime::Arena& arena, lang::Diagnostics& diagnostics)
      : arena_(arena), diagnostics_(diagnostics) {}

  using Range = lang::SourceRange;
  using ExprPtr = const surface::Expr*;
  using TypePtr = const surface::Type*;
  using PatternPtr = const surface::Pattern*;

  // Lists under construction.
  ListStack<const surface::Definition*> definitions;
  ListStack<surface::Constructor> constructors;
  ListStack<surface::Identifier> identifiers;
  ListStack<surface::Parameter> parameters;
  ListStack<surface::Attribute> attributes;
  ListStack<surface::AttributeValue> values;
  ListStack<surface::Item> items;
  ListStack<surface::Arm> arms;
  ListStack<surface::Dim> dims;
  ListStack<ExprPtr> exprs;
  ListStack<TypePtr> types;
  ListStack<PatternPtr> patterns;

  List startIdentifiers(Text name, Range range) { return identifiers.start({name.view(), range}); }
  List pushIdentifier(List list, Text name, Range range) {
    return identifiers.push(list, {name.view(), range});
  }
  List startItems() { return items.start(item_); }
  List pushItem(List list) { return items.push(list, item_); }
  List startValues() { return values.start(value_); }
  List pushValue(List list) { return values.push(list, value_); }
  List startAttributes(Text key, Range range) {
    return attributes.start({{key.view(), range}, value_});
  }
  List pushAttribute(List list, Text key, Range range) {
    return attributes.push(list, {{key.view(), range}, value_});
  }

  // The whole text.
  void finishDefinitions(List list);
  void finishExpression(ExprPtr expr) { file.expr = expr; }
  void finishMixed(Range expr, List list);
  surface::File file;

  // Definitions and functions.
  const surface::Definition* functionDefinition(Range range, Text name, Range nameRange,
                                                surface::Function* function);
  const surface::Definition* typeDefinition(Range range, Text name, Range nameRange, List generics,
                                            List constructorList);
  const surface::Definition* externType(Range range, const surface::Definition* definition);
  const surface::Constructor* constructor(Text name, Range range, List fields);
  surface::Function* parameterList(List list, List attributeList);
  const surface::Parameter* parameter(Text name, Range range, List attributeList, TypePtr type);
  surface::Function* function(Range range, List generics, surface::Function* function,
                              TypePtr result, ExprPtr body);

  // Items; the last one made waits for a list.
  void let(Range range, Text name, Range nameRange, TypePtr type, ExprPtr value);
  void graphBinding(Range range, uint32_t number, Range nameRange, ExprPtr value);
  void freeVar(Range range, Text name, Range nameRange, TypePtr type);
  void effect(Range range, ExprPtr value);
  ExprPtr sequence(Range range, List list, ExprPtr result);
  ExprPtr block(Range range, ExprPtr body);

  // Expressions.
  ExprPtr error(Range range);
  ExprPtr integer(Range range, IntValue value);
  ExprPtr real(Range range, RealValue value);
  ExprPtr boolean(Range range, bool value);
  ExprPtr hole(Range range);
  ExprPtr local(Range range, Text name);
  ExprPtr graph(Range range, uint32_t number);
  ExprPtr global(Range range, Text name);
  ExprPtr name(Range range, Text name);
  ExprPtr meta(Range range, MetaValue value);
  ExprPtr functionLiteral(Range range, const surface::Function* function);
  ExprPtr ifExpr(Range range, ExprPtr condition, ExprPtr then, ExprPtr otherwise);
  ExprPtr match(Range range, bool isPartial, ExprPtr scrutinee, List armList);
  const surface::Arm* arm(PatternPtr pattern, ExprPtr body);
  ExprPtr refNew(Range range, ExprPtr value);
  ExprPtr refRead(Range range, ExprPtr cell);
  ExprPtr refWrite(Range range, ExprPtr cell, ExprPtr value);
  ExprPtr refWriteWithoutValue(Range range, Range found);
  ExprPtr tuple(Range range, List fields);
  ExprPtr tensorLiteral(Range range, List elements);
  ExprPtr project(Range range, ExprPtr operand, uint32_t index);
  surface::Call* arguments(List list, List attributeList);
  ExprPtr call(Range range, ExprPtr callee, surface::Call* call);
  ExprPtr infix(Range range, surface::InfixOp op, Range opRange, ExprPtr left, ExprPtr right);

  // Attribute values; the last one made waits for a list.
  void integerAttribute(Range range, IntValue value);
  void realAttribute(Range range, RealValue value);
  void booleanAttribute(Range range, bool value);
  void stringAttribute(Range range, Text text);
  void listAttribute(Range range, List list);
  void exprAttribute(ExprPtr expr);

  // Patterns.
  PatternPtr wildcardPattern(Range range);
  PatternPtr localPattern(Range range, Text name, Range nameRange, TypePtr type);
  PatternPtr constructorPattern(Range range, Text name, Range nameRange, List fields);
  PatternPtr tuplePattern(Range range, List fields);

  // Types.
  TypePtr holeType(Range range);
  TypePtr namedType(Range range, Text name, List arguments);
  TypePtr tensorType(Range range, List shape, Text dtype, Range dtypeRange);
  TypePtr tupleType(Range range, List fields);
  TypePtr functionType(Range range, List generics, List parameterTypes, TypePtr result);
  TypePtr refType(Range range, TypePtr inner);
  TypePtr metaType(Range range, MetaValue value);
  const surface::Dim* integerDim(Range range, IntValue value);
  const surface::Type* sizeType(const surface::Dim* dim);
  const surface::Dim* anyDim(Range range);
  const surface::Dim* namedDim(Range range, Text name);
  const surface::Dim* metaDim(Range range, MetaValue value);
  const surface::Dim* holeDim(Range range);
  const surface::Dim* operationDim(Range range, surface::DimKind kind, const surface::Dim* left,
                                   const surface::Dim* right);

  // For what builds the nodes that only one notation has.
  /// Sets the depth of a node from that of its children. A tree too deep is replaced.
  ExprPtr finish(surface::Expr* expr, uint32_t childDepth);
  TypePtr finish(surface::Type* type, uint32_t childDepth);
  /// The item that waits for a list.
  surface::Item& lastItem() { return item_; }

private:
  const surface::Dim* dim(const surface::Dim& value);
  surface::AttributeValue& newValue(surface::AttributeKind kind, Range range);
  void reportTooDeep(Range range);

  runtime::Arena& arena_;
  lang::Diagnostics& diagnostics_;
  surface::Item item_;
  surface::AttributeValue value_;
  bool reportedDepth_ = false;
};

} // namespace parser
