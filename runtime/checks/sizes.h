// Shapes of tensors against declared ones, where sizes are numbers and names get their sizes.
//
// A name stands for the size that it meets first. A form with one name that is not known yet is
// solved for it, so 5 against `n + 1` makes `n` 4; what cannot be solved at once is Open, and may
// be decided later, when more names are known.
#pragma once

#include "runtime/checks/declared.h"
#include "runtime/function_ref.h"
#include "runtime/list.h"
#include "runtime/words.h"

#include <span>

namespace checks {

/// The sizes that names have in one call.
class KnownSizes {
public:
  /// `source` is what the user of this class calls the place that gave the size.
  struct Known {
    uint32_t name;
    int64_t size;
    uint32_t source;
  };

  /// What is known of a name, or null.
  const Known* find(uint32_t name) const;
  /// Names not known before only.
  void add(uint32_t name, int64_t size, uint32_t source);
  void clear() { known_.clear(); }
  /// In the order of names.
  std::span<const Known> all() const { return known_; }

private:
  runtime::List<Known> known_;
};

/// The number that a form stands for; nothing when a name in it is not known or it passes 64 bits.
std::optional<int64_t> sizeOf(uint32_t form, const SizeTable& table, const KnownSizes& sizes);

enum class Fit : uint8_t { Yes, No, Open };

/// Whether an extent that is declared as `form` can be of this size. Learns nothing.
Fit fitSize(uint32_t form, int64_t size, const SizeTable& table, const KnownSizes& sizes);

/// Whether the names of a declared tensor can stand for what a tensor has; learns their sizes. What
/// is Open waits for `finish`.
class ShapeMatcher {
public:
  ShapeMatcher(const SizeTable& table, KnownSizes& sizes) : table_(table), sizes_(sizes) {}

  /// False when the tensor does not fit.
  bool match(const Declared& declared, runtime::DType dtype, std::span<const int64_t> shape,
             uint32_t source);
  /// Looks again at what was left open, until nothing more can be learned; the source of one that
  /// does not fit, if there is one.
  std::optional<uint32_t> finish();

private:
  struct Waiting {
    uint32_t form;
    int64_t size;
    uint32_t source;
  };

  Fit learn(const Waiting& question);

  const SizeTable& table_;
  KnownSizes& sizes_;
  runtime::List<Waiting> waiting_;
};

/// The dimensions of a tensor that do not fit; nothing when rank or element type differ already.
std::optional<std::vector<size_t>> misfits(const Declared& declared, runtime::DType dtype,
                                           std::span<const int64_t> shape, const SizeTable& table,
                                           const KnownSizes& sizes);

/// Why a size does not fit a form with names, such as "`n` is 4 in `%x`, but here it is 5"; empty
/// for a number. `place` gives the words for a source, such as "in `%x`".
runtime::Words misfitWords(uint32_t form, int64_t size, const SizeTable& table,
                           const KnownSizes& sizes,
                           runtime::FunctionRef<runtime::Words(uint32_t source)> place);

} // namespace checks
