// The families of operators. Each stands in the file of its name; stdlib/ops.cpp lists them.
#pragma once

#include "lang/op/op.h"

namespace stdlib {

lang::OperatorFamily elementwiseFamily();
lang::OperatorFamily shapeFamily();
lang::OperatorFamily joinFamily();
lang::OperatorFamily rearrangeFamily();
lang::OperatorFamily indexFamily();
lang::OperatorFamily sliceFamily();
lang::OperatorFamily scatterFamily();
lang::OperatorFamily sortFamily();
lang::OperatorFamily scanFamily();
lang::OperatorFamily fourierFamily();
lang::OperatorFamily einsumFamily();
lang::OperatorFamily matricesFamily();
lang::OperatorFamily diagonalFamily();
lang::OperatorFamily dynFamily();
lang::OperatorFamily dynCreateFamily();
lang::OperatorFamily dynSelectFamily();
lang::OperatorFamily broadcastFamily();
lang::OperatorFamily reduceFamily();
lang::OperatorFamily collapseFamily();
lang::OperatorFamily createFamily();
lang::OperatorFamily gridFamily();
lang::OperatorFamily partsFamily();
lang::OperatorFamily visionFamily();
lang::OperatorFamily samplingFamily();
lang::OperatorFamily roiAlignFamily();
lang::OperatorFamily suppressionFamily();
lang::OperatorFamily resizeFamily();
lang::OperatorFamily padFamily();
lang::OperatorFamily blocksFamily();
lang::OperatorFamily lossFamily();
lang::OperatorFamily normFamily();
lang::OperatorFamily activationFamily();
lang::OperatorFamily convFamily();
lang::OperatorFamily convTransposeFamily();
lang::OperatorFamily convBackwardWeightFamily();
lang::OperatorFamily denseFamily();
lang::OperatorFamily poolFamily();
lang::OperatorFamily adaptivePoolFamily();
lang::OperatorFamily slidingFamily();
lang::OperatorFamily correlationFamily();
lang::OperatorFamily deformableConvFamily();
lang::OperatorFamily regionsFamily();
lang::OperatorFamily qnnFamily();
lang::OperatorFamily qnnArithmeticFamily();
lang::OperatorFamily qnnSimulatedFamily();
lang::OperatorFamily qnnTablesFamily();
lang::OperatorFamily qnnContractionsFamily();
lang::OperatorFamily qnnPoolFamily();
lang::OperatorFamily winogradFamily();
lang::OperatorFamily winogradWeightsFamily();
lang::OperatorFamily packedWeightsFamily();
lang::OperatorFamily convGemmFamily();
lang::OperatorFamily bitserialFamily();
lang::OperatorFamily sparseFamily();
lang::OperatorFamily coordinatesFamily();
lang::OperatorFamily randomFamily();
lang::OperatorFamily proposalFamily();
lang::OperatorFamily dynPicturesFamily();
lang::OperatorFamily annotationFamily();
lang::OperatorFamily dialectFamily();
lang::OperatorFamily derivativesFamily();
lang::OperatorFamily leavesFamily();
lang::OperatorFamily indexTransformFamily();

} // namespace stdlib
