// The bits of small numbers: packed into words, one word for each bit of so many numbers, and read
// from them.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

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

/// The lowest bits of whole numbers, as numbers of type `dtype`.
lang::TensorHandle lowestBits(lang::ComputeCall& call, const lang::TensorHandle& tensor,
                              int64_t bits, runtime::DType dtype);

/// The numbers whose bits are packed, all planes of them, as numbers of type `dtype`.
lang::TensorHandle unpacked(lang::ComputeCall& call, const Packing& packing,
                            const lang::TensorHandle& words, runtime::DType dtype);

} // namespace stdlib
