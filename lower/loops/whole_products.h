// Sums of products of whole numbers, for rewrites that put other factors in place of theirs and
// give the sums other starts.
#pragma once

#include "lower/loops/edit.h"

namespace loops {

/// A node by the body that it stands in.
struct Stand {
  std::vector<Node>* body;
  size_t at;
  Node& node() const { return (*body)[at]; }
};

/// A sum of products: the loops over its points, of which each but the last holds the next alone,
/// the loops that join, outermost first, and the two statements.
struct Products {
  Stand outermost;
  std::vector<Loop> spatial, summed;
  Statement *maker, *joiner;
};

/// The sum that scratch of one int32 holds, and that starts with 0 or with what was put there;
/// refuses what is none.
Products productsOf(Nest& nest, uint32_t accumulator);

/// A factor: an element that is read, its conversion to int32, and what is taken off that, if
/// anything is: a number, or an element of an input that is one for all.
struct Factor {
  uint32_t load, cast;
  std::optional<uint32_t> less = {};
};

/// The factors of what is joined, each a byte or an int16; nothing where it is something else.
std::optional<std::pair<Factor, Factor>> factorsOf(const Nest& nest, const Statement& joiner);

uint32_t addNumber(Statement& statement, int64_t number);
/// An operation on two int32.
uint32_t addApply(Statement& statement, ScalarFunction function, uint32_t a, uint32_t b);

/// Sums of the factor alone, for each of the points that it hangs on: makes them in front of all
/// loops, and gives an operation of the statement that starts the products which loads that of its
/// point.
uint32_t addFactorSum(Nest& nest, Products& products, const Factor& factor,
                      const std::string& name);
/// Adds a value to that which a sum of products starts with.
void addToStart(Statement& maker, uint32_t value);

} // namespace loops
