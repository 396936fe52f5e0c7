// Shapes of tensors against declared shapes, where sizes are numbers and names get their sizes.
//
// A name stands for the size that it meets first. A form with one name that is not known yet is
// solved for it, so 5 against `n + 1` makes `n` 4; what cannot be solved at once is Open, and may
// be decided later, when more names are known.
#pragma once

#include "lang/type.h"

#include <optional>

namespace lang {

/// The sizes that names have in one call.
class DimSizes {
public:
  /// `source` is what the user of this class calls the place that gave the size.
  struct Known {
    const Dim* symbol;
    int64_t size;
    uint32_t source;
  };

  /// What is known of a name, or null.
  const Known* find(const Dim* symbol) const;
  /// Names not known before only.
  void add(const Dim* symbol, int64_t size, uint32_t source);
  void clear() { known_.clear(); }

private:
  /// In the order of Dim::serial.
  std::vector<Known> known_;
};

/// The number that a form stands for; nothing when a name in it is not known or it passes 64 bits.
std::optional<int64_t> sizeOf(const Dim* dim, const DimSizes& sizes);

enum class Fit : uint8_t { Yes, No, Open };

/// Whether a dimension that is declared as `dim` can have this size. Learns nothing.
Fit fitSize(const Dim* dim, int64_t size, const DimSizes& sizes);

/// Whether the names of a declared tensor type can stand for what a tensor has; learns their sizes.
/// What is Open waits for `finish`.
class ShapeMatcher {
public:
  explicit ShapeMatcher(DimSizes& sizes) : sizes_(sizes) {}

  /// False when the tensor does not fit.
  bool match(const Type& declared, runtime::DType dtype, std::span<const int64_t> shape,
             uint32_t source);
  /// Looks again at what was left open, until nothing more can be learned; the source of one that
  /// does not fit, if there is one.
  std::optional<uint32_t> finish();

private:
  struct Waiting {
    const Dim* dim;
    int64_t size;
    uint32_t source;
  };

  Fit learn(const Waiting& question);

  DimSizes& sizes_;
  std::vector<Waiting> waiting_;
};

/// The dimensions of a tensor that do not fit; nothing when rank or element type differ already.
std::optional<std::vector<size_t>> misfits(const Type& declared, runtime::DType dtype,
                                           std::span<const int64_t> shape, const DimSizes& sizes);

/// Why a size does not fit a form with names, such as "`n` is 4 in `%x`, but here it is 5"; empty
/// for a number. `place` gives the words for a source, such as "in `%x`".
std::string misfitText(const Dim* dim, int64_t size, const DimSizes& sizes,
                       const std::function<std::string(uint32_t source)>& place);

} // namespace lang
