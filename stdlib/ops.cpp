// The list of operator families.
#include "stdlib/ops.h"

#include "stdlib/ops/families.h"

namespace stdlib {

const lang::OperatorTable& operatorTable() {
  static const lang::OperatorFamily families[] = {
      elementwiseFamily(),
      shapeFamily(),
      joinFamily(),
      rearrangeFamily(),
      indexTransformFamily(),
      indexFamily(),
      sliceFamily(),
      scatterFamily(),
      sortFamily(),
      scanFamily(),
      fourierFamily(),
      einsumFamily(),
      matricesFamily(),
      diagonalFamily(),
      dynFamily(),
      dynCreateFamily(),
      dynSelectFamily(),
      broadcastFamily(),
      reduceFamily(),
      collapseFamily(),
      createFamily(),
      gridFamily(),
      partsFamily(),
      visionFamily(),
      samplingFamily(),
      roiAlignFamily(),
      suppressionFamily(),
      resizeFamily(),
      padFamily(),
      blocksFamily(),
      lossFamily(),
      normFamily(),
      activationFamily(),
      convFamily(),
      convTransposeFamily(),
      convBackwardWeightFamily(),
      denseFamily(),
      poolFamily(),
      adaptivePoolFamily(),
      slidingFamily(),
      correlationFamily(),
      deformableConvFamily(),
      regionsFamily(),
      qnnFamily(),
      qnnArithmeticFamily(),
      qnnSimulatedFamily(),
      qnnTablesFamily(),
      qnnContractionsFamily(),
      qnnPoolFamily(),
      winogradFamily(),
      winogradWeightsFamily(),
      packedWeightsFamily(),
      convGemmFamily(),
      bitserialFamily(),
      sparseFamily(),
      coordinatesFamily(),
      randomFamily(),
      proposalFamily(),
      dynPicturesFamily(),
      annotationFamily(),
      dialectFamily(),
      derivativesFamily(),
      leavesFamily(),
  };
  static const lang::OperatorTable table(families, absentOperators());
  return table;
}

std::span<const lang::AbsentOperator> absentOperators() {
  static constexpr lang::AbsentOperator absent[] = {
      {"torch_op", "it runs TorchScript through PyTorch's library, which Baton does not contain; "
                   "write what it computes with operators, or as a function"},
      {"parser.MetaRef", "it stands for `meta[KEY][INDEX]` while TVM's parser works, and never in "
                         "programs; write `meta[...]` itself"},
  };
  return absent;
}

} // namespace stdlib
