// Sums of products in a nest, and others that lanes may share, and what is read of one before it is
// tiled: a part of choose.h.
#pragma once

#include "lower/loops/nest.h"

#include <span>

namespace loops {

/// A sum for each point of some loops, as loops stand that nobody changed: each of `spatial` is
/// alone in the one before; in the body of the last one an accumulator is allocated, made, joined
/// to in the loops `summed`, outermost first, and read.
struct Contraction {
  std::vector<std::string> spatial, summed;
  std::string accumulator;
  /// A loop inside of those summed whose iterations run at once; empty where there is none.
  std::string group = {};
  /// Whether products of two buffers are added up; or else the sum, maximum or minimum is of
  /// elements as they are, as where windows are pooled.
  bool isOfProducts = false;
};

/// The statement that joins, in the loops of a sum.
const Statement* joinerIn(const Node& sum);
/// That of a contraction.
const Statement& joinerOf(Nest& nest, const Contraction& contraction);

/// Those below a part of a nest.
std::vector<Contraction> contractionsIn(const Nest& nest, std::span<const Node> body);

/// An operand of the products: where it is read, as one number.
struct Operand {
  uint32_t buffer;
  Form flat;
  /// Whether a number counts for places outside.
  bool hasOutside;
};

/// What is known of a contraction before it is tiled. Columns are the points of its innermost
/// spatial loop.
class Reading {
public:
  /// Both must outlive this.
  Reading(Nest& nest, const Contraction& of);

  /// Whether every operand is read at places that are forms.
  bool isPlain() const { return isPlain_; }

  /// What is left behind tiles is few, other open extents count as large.
  int64_t extentOf(const std::string& loop);
  /// Products that are added to one sum, one at least; those of large sums are as good as many.
  int64_t productsOfSum();

  /// Which loop gives rows: what the lanes read does not hang on it.
  std::optional<std::string> rows();
  /// Loops over columns besides the innermost: what rows read does not hang on them.
  std::vector<std::string> moreColumns(const std::string& rows) const;

  const std::vector<Operand>& operands() const { return operands_; }
  bool hangsOn(const Operand& operand, const std::string& loop) const {
    return nest_.table.mentions(operand.flat, variableOf(loop));
  }
  /// What is read in lanes.
  std::vector<Operand> ofLanes() const;

  /// Whether lanes do not read elements, or groups of these, side by side.
  bool isApart(const Operand& operand) { return isApartAlong(operand, of_.spatial.back()); }
  bool isApartAlong(const Operand& operand, const std::string& loop);
  /// How many bytes a step of a loop goes along an operand, if that is a number.
  std::optional<int64_t> bytesAlong(const Operand& operand, const std::string& loop);

  const std::string& nameOf(const Operand& operand) const {
    return nest_.buffers[operand.buffer].name;
  }

private:
  void read(const Operation& load);

  int64_t bytesOf(const Operand& operand) const {
    return int64_t(nest_.buffers[operand.buffer].dtype.bytes());
  }
  Name variableOf(const std::string& loop) const { return *nest_.table.find(loop); }
  bool isOfLanes(const Operand& operand) const { return hangsOn(operand, of_.spatial.back()); }

  /// Its table grows with what is asked.
  Nest& nest_;
  const Contraction& of_;
  std::vector<Operand> operands_;
  bool isPlain_ = true;
};

} // namespace loops
