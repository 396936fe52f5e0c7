// What rewrites are made of: finding a loop, putting forms in place of variables, copying bodies.
#pragma once

#include "lower/loops/nest.h"

#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace loops {

/// Thrown by a rewrite that does not apply, and caught where schedules are applied.
struct Inapplicable {
  std::string problem;
};

[[noreturn]] void refuse(std::string problem);

/// The whole number from 1 on that an argument is.
int64_t numberAbove0(const std::string& argument);

/// A node, by the body that it stands in, and what is known there.
struct Spot {
  std::vector<Node>* body;
  size_t at;
  sizes::Facts facts;

  Node& node() const { return (*body)[at]; }
  Loop& loop() const { return std::get<Loop>(node().what); }
};

/// The loop of a variable, or the allocation of a buffer; refuses where there is none.
Spot findLoop(Nest& nest, std::string_view variable);
Spot findAllocation(Nest& nest, uint32_t buffer);
uint32_t findScratch(const Nest& nest, std::string_view name);

/// Calls `visit` with each node below, and with the nodes themselves, outer ones first.
void forEachNode(std::vector<Node>& nodes, const std::function<void(Node&)>& visit);
void forEachNode(const std::vector<Node>& nodes, const std::function<void(const Node&)>& visit);
/// Calls `change` with each form in nodes, and in the extents of what they allocate.
void changeForms(Nest& nest, std::vector<Node>& nodes, const std::function<Form(Form)>& change);
void changeForms(Statement& statement, const std::function<Form(Form)>& change);
/// Puts forms in place of names.
void replaceNames(Nest& nest, std::vector<Node>& nodes, const std::map<Name, Form>& names);

/// A variable whose name begins so and is not there yet.
Name freshVariable(Nest& nest, std::string base);
/// A scratch buffer whose name begins so.
uint32_t freshBuffer(Nest& nest, std::string base, DType dtype, std::vector<Form> extents);
Form variableForm(Nest& nest, Name variable);

/// Where the element at a position stands in row-major order of these extents.
Form flatOf(Nest& nest, std::span<const Form> extents, std::span<const Form> position);
/// The places of a load; nothing where one is a value, or may be outside.
std::optional<std::vector<Form>> sureForms(const Operation& load);

/// Nodes once more, with variables and scratch of their own.
std::vector<Node> copyOf(Nest& nest, const std::vector<Node>& nodes);

/// Adds an operation behind those of a statement, and gives its place.
uint32_t addOperation(Statement& statement, Operation operation);
uint32_t addCast(Statement& statement, uint32_t value, DType dtype);

/// Puts the places where operations stand now in place of those that an operation knows.
void renumber(Operation& operation, std::span<const uint32_t> places);

/// Whether some statement below reads or writes a buffer.
bool uses(const Node& node, uint32_t buffer);
/// Calls `visit` with the position of each access to a buffer: forms of stores, and of loads those
/// places that are forms; `false` for a load that has a place that is none, or is not sure to be
/// inside.
void forEachAccess(std::vector<Node>& nodes, uint32_t buffer,
                   const std::function<void(std::vector<Form>&)>& store,
                   const std::function<void(Operation&)>& load);

/// Takes away what facts decide: conditions that hold, loops that run once, places that
/// are proven to be inside, parts of forms; conversions there and back, what no value needs.
void simplify(Nest& nest);

} // namespace loops
