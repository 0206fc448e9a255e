/** A graph's weights as nodes read them: float32, blocks or channels, by the weight type. */
import type { ModelConfig } from '../config.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { type Activation, activationScale } from './channels.ts';
import { BLOCK } from './quantize.ts';
import { WEIGHTS_FILE, type WeightSlot, type WeightType, weightSlots } from './weights.ts';

/** Activations as products read them. */
export interface Operand {
  readonly value: Value;
  /** What a step of them stands for, if they are integers. */
  readonly scale?: Value;
  /** [.., 1]: what each row was multiplied by, and its products are divided by. */
  readonly factor?: Value;
}

/** The weights of a graph, by their names in the weight file. */
export interface Weights {
  value(name: string): Value;
  /** The gain of a norm that products read from: ones, where it has gone into their weights. */
  gain(name: string): Value;
  /** Activations [.., width], made ready once for all the products that read them. */
  operand(graph: Graph, x: Value, width: number, read: Activation): Operand;
  /** Activations [.., in] times a weight [out, in]. */
  linear(graph: Graph, operand: Operand, name: string): Value;
}

const matmul = 'com.microsoft:FusedMatMul';

/** Declares all weights in the main graph; bodies of loops see them from there. */
export function declareWeights(graph: Graph, config: ModelConfig, type: WeightType): Weights {
  const slots = weightSlots(config, type);
  for (const slot of slots.values()) declare(graph, slot);
  const slotOf = (name: string): WeightSlot => {
    const slot = slots.get(name);
    if (!slot) throw new Error(`internal: no weight ${name} in this architecture`);
    return slot;
  };
  const ones = (width: number): Value =>
    graph.constant(DataType.FLOAT, [width], new Float32Array(width).fill(1));
  return {
    value: (name) => slotOf(name).name,
    gain: (name) => (type === 'w8a8' ? ones(slotOf(name).shape[0]!) : slotOf(name).name),
    operand: (where, x, width, read) =>
      type === 'w8a8' ? rounded(where, x, ones(width), read) : { value: x },
    linear(where, { value: x, scale, factor }, name) {
      const { blocks, channels, shape } = slotOf(name);
      if (channels) {
        const inputs = [x, name, scale!, `${name}.scales`, middle(where)];
        const y = where.op('com.microsoft:MatMulIntegerToFloat', inputs);
        return factor ? where.op('Div', [y, factor]) : y;
      }
      if (!blocks) return where.op(matmul, [x, name], { transB: 1 });
      const attributes = { N: shape[0]!, K: shape[1]!, bits: blocks.bits, block_size: BLOCK };
      return where.op('com.microsoft:MatMulNBits', [x, name, `${name}.scales`], attributes);
    },
  };
}

function declare(graph: Graph, { name, shape, span, blocks, channels }: WeightSlot): void {
  const external = (value: Value, type: DataType, dims: readonly number[], at: WeightSlot['span']) =>
    graph.external(value, type, dims, { location: WEIGHTS_FILE, ...at });
  const [rows, columns] = shape as [number, number];
  if (blocks) {
    const perRow = Math.ceil(columns / BLOCK);
    external(name, DataType.UINT8, [rows, perRow, (BLOCK * blocks.bits) / 8], span);
    external(`${name}.scales`, DataType.FLOAT, [rows * perRow], blocks.scales);
  } else if (channels) {
    external(name, DataType.INT8, [columns, rows], span);
    external(`${name}.scales`, DataType.FLOAT, [rows], channels.scales);
  } else external(name, DataType.FLOAT, shape, span);
}

/** Unsigned, because the runtime's kernel for signed activations is seven times slower. */
const middle = (graph: Graph): Value => graph.constant(DataType.UINT8, [], Uint8Array.of(128));

/** Activations in steps of their range. Those that no norm has just divided by their root mean square are divided here. */
function rounded(graph: Graph, x: Value, ones: Value, read: Activation): Operand {
  const scale = graph.scalarFloat(activationScale(read));
  const round = (value: Value): Value => graph.op('QuantizeLinear', [value, scale, middle(graph)]);
  if (read === 'normed') return { value: round(x), scale };
  const [unit, factor] = [graph.fresh('unit'), graph.fresh('factor')];
  graph.node('SimplifiedLayerNormalization', [x, ones], [unit, factor], {
    axis: -1,
    epsilon: { float: 1e-12 },
  });
  return { value: round(unit), scale, factor };
}
