/**
 * Builds ONNX graphs node by node. Names of values are generated, and `op` returns them as strings. This is a thin layer over the
 * schema's messages; it checks nothing, since the runtime does.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type AttributeProto,
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  TensorProto_DataLocation as DataLocation,
  TensorProto_DataType as DataType,
  type GraphProto,
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  StringStringEntryProtoSchema,
  type TensorProto,
  TensorProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from './schema.gen.ts';

export { DataType };

/** A value in a graph; the empty string is an absent optional input. */
export type Value = string;

/** An attribute that must be written as a float even when its value is whole. */
export interface Float {
  readonly float: number;
}

export type Attribute = number | readonly number[] | string | Float | GraphProto;

/** A dimension: a size, or a name for one known only at run time. */
export type Dimension = number | string;

function attributeOf(name: string, value: Attribute): AttributeProto {
  if (typeof value === 'number')
    return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: BigInt(value) });
  if (typeof value === 'string')
    return create(AttributeProtoSchema, {
      name,
      type: AttributeType.STRING,
      s: new TextEncoder().encode(value),
    });
  if ('float' in value)
    return create(AttributeProtoSchema, { name, type: AttributeType.FLOAT, f: value.float });
  if ('$typeName' in value)
    return create(AttributeProtoSchema, { name, type: AttributeType.GRAPH, g: value });
  return create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: value.map(BigInt) });
}

function valueInfo(name: string, type: DataType, dims: readonly Dimension[]): ValueInfoProto {
  const dim = dims.map((d) => ({
    value:
      typeof d === 'number'
        ? ({ case: 'dimValue', value: BigInt(d) } as const)
        : ({ case: 'dimParam', value: d } as const),
  }));
  return create(ValueInfoProtoSchema, {
    name,
    type: { value: { case: 'tensorType', value: { elemType: type, shape: { dim } } } },
  });
}

/** Bytes of typed array data as they go into a tensor's raw_data. */
const rawBytes = (data: ArrayBufferView): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** One graph under construction: the main graph or the body of a control flow node. A body can use the values of its parents. */
export class Graph {
  readonly #nodes: NodeProto[] = [];
  readonly #initializers: TensorProto[] = [];
  readonly #inputs: ValueInfoProto[] = [];
  readonly #outputs: ValueInfoProto[] = [];
  readonly #root: Graph;
  readonly #constants = new Map<string, Value>();
  readonly #name: string;
  #count = 0;

  constructor(name: string, parent?: Graph) {
    this.#name = name;
    this.#root = parent ? parent.#root : this;
  }

  input(name: string, type: DataType, dims: readonly Dimension[]): Value {
    this.#inputs.push(valueInfo(name, type, dims));
    return name;
  }

  /** Declares a value as the next output, under its own name. */
  output(value: Value, type: DataType, dims: readonly Dimension[]): void {
    this.#outputs.push(valueInfo(value, type, dims));
  }

  /** Adds a node with one output and returns the output's name. */
  op(type: string, inputs: readonly Value[], attributes: Record<string, Attribute> = {}): Value {
    const output = this.fresh(type);
    this.node(type, inputs, [output], attributes);
    return output;
  }

  /** Adds a node with the given output names. An op type "domain:Type" is of another domain than ONNX's own. */
  node(
    type: string,
    inputs: readonly Value[],
    outputs: readonly Value[],
    attributes: Record<string, Attribute> = {},
  ): void {
    const [opType = '', domain = ''] = type.split(':').reverse();
    this.#nodes.push(
      create(NodeProtoSchema, {
        opType,
        domain,
        input: [...inputs],
        output: [...outputs],
        attribute: Object.entries(attributes).map(([name, value]) => attributeOf(name, value)),
      }),
    );
  }

  /** A name that no other value has. */
  fresh(hint: string): Value {
    return `${hint.split(':').at(-1)}_${this.#root.#count++}`;
  }

  /** Adds a small constant tensor, which is stored in the .onnx file; equal ones are stored once. */
  constant(type: DataType, dims: readonly number[], data: ArrayBufferView): Value {
    const raw = rawBytes(data);
    const key = `${type} ${dims} ${raw}`;
    const known = this.#root.#constants.get(key);
    if (known) return known;
    const name = this.fresh('constant');
    this.#root.#constants.set(key, name);
    this.#root.#initializers.push(
      create(TensorProtoSchema, { name, dataType: type, dims: dims.map(BigInt), rawData: raw }),
    );
    return name;
  }

  int64(...values: number[]): Value {
    return this.constant(DataType.INT64, [values.length], BigInt64Array.from(values, BigInt));
  }

  scalarInt64(value: number): Value {
    return this.constant(DataType.INT64, [], BigInt64Array.of(BigInt(value)));
  }

  scalarInt32(value: number): Value {
    return this.constant(DataType.INT32, [], Int32Array.of(value));
  }

  scalarFloat(value: number): Value {
    return this.constant(DataType.FLOAT, [], Float32Array.of(value));
  }

  /** Adds a tensor whose bytes are in another file: `length` bytes at `offset` of `location`. */
  external(
    name: string,
    type: DataType,
    dims: readonly number[],
    where: { location: string; offset: number; length: number },
  ): Value {
    const entries = Object.entries(where).map(([key, value]) =>
      create(StringStringEntryProtoSchema, { key, value: String(value) }),
    );
    this.#root.#initializers.push(
      create(TensorProtoSchema, {
        name,
        dataType: type,
        dims: dims.map(BigInt),
        dataLocation: DataLocation.EXTERNAL,
        externalData: entries,
      }),
    );
    return name;
  }

  build(): GraphProto {
    return create(GraphProtoSchema, {
      name: this.#name,
      node: this.#nodes,
      input: this.#inputs,
      output: this.#outputs,
      initializer: this.#initializers,
    });
  }
}

/** The bytes of an .onnx file. Equal graphs give equal bytes. */
export function modelBytes(graph: Graph): Uint8Array {
  const opset = (domain: string, version: number) =>
    create(OperatorSetIdProtoSchema, { domain, version: BigInt(version) });
  return toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: 8n,
      producerName: 'rollmesh',
      opsetImport: [opset('', 18), opset('com.microsoft', 1)],
      graph: graph.build(),
    }),
  );
}
