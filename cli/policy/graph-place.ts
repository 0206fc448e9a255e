/** Sets where an exported graph finds its weights, which ONNX keeps in another file, by name and offset. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ModelProtoSchema } from '../../model/onnx/schema.gen.ts';

/** The same graph over the bytes from `offset` on of the file `location`, where its weights lie as in the file it names now. */
export function placeWeights(graph: Uint8Array, location: string, offset: number): Uint8Array {
  const model = fromBinary(ModelProtoSchema, graph);
  for (const { externalData } of model.graph?.initializer ?? [])
    for (const entry of externalData) {
      if (entry.key === 'location') entry.value = location;
      if (entry.key === 'offset') entry.value = String(Number(entry.value) + offset);
    }
  return toBinary(ModelProtoSchema, model);
}
