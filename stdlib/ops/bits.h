// The bits of small numbers: packed into words, and read one by one from numbers and from words.
//
// Counting gives the same whether words or single bits are looked at, so sums are written over the
// numbers whose bits are packed.
#pragma once

#include "lang/compute.h"
#include "lang/relation.h"

#include <functional>

namespace stdlib {

/// The attribute as a number of bits.
runtime::Checked<int64_t> readBits(const lang::Attributes& attributes, std::string_view name);

/// The attribute as the type of words: an unsigned integer.
runtime::Checked<runtime::DType> readWord(const lang::Attributes& attributes,
                                          std::string_view name);

/// The bits of a word.
int64_t widthOf(runtime::DType word);

/// How a tensor is packed: `bits` planes, of which each word holds so many places along `axis`.
/// Planes are counted along dimension `plane` of the result.
struct Packing {
  int64_t bits = 1;
  size_t axis = 0, plane = 0;
  runtime::DType word = runtime::UInt32;
};

/// The shape of the packed tensor; a problem when its words are not whole.
runtime::Checked<std::vector<const lang::Dim*>>
packedShape(lang::TypeContext& types, const Packing& packing, lang::Dims shape);

/// The packed tensor. The first place of a word is its highest bit.
lang::TensorHandle packed(lang::ComputeCall& call, const Packing& packing,
                          const lang::TensorHandle& data);

/// Reads bit `plane` of the number at a position, as a number.
using BitReader = std::function<lang::Scalar(const lang::Position& at, lang::Scalar plane)>;

/// Bits of a tensor that is not packed; those outside are 0.
BitReader plainBits(lang::ComputeCall& call, const lang::TensorHandle& tensor,
                    runtime::DType dtype);

/// Bits of a packed tensor.
BitReader packedBits(const Packing& packing, const lang::TensorHandle& words, runtime::DType dtype);

} // namespace stdlib
