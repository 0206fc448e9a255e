/** A graph's weights in the form that its nodes read: float32, blocks or channels, depending on the weight type. */
import type { ModelConfig } from '../config.ts';
import { DataType, type Graph, type Value } from './builder.ts';
import { type Activation, activationScale } from './channels.ts';
import { BLOCK } from './quantize.ts';
import { WEIGHTS_FILE, type WeightSlot, type WeightType, weightSlots } from './weights.ts';

/** Activations in the form that matrix products read. */
export interface Operand {
  readonly value: Value;
  /** Width of one quantization step, if they are integers. */
  readonly scale?: Value;
  /** [.., 1]: the factor that each row was multiplied by, and that its products are divided by. */
  readonly factor?: Value;
}

/** The weights of a graph, by their names in the weight file. */
export interface Weights {
  value(name: string): Value;
  /** The gain of a norm. */
  norm(name: string): Value;
  /** The gain of a norm whose output goes into products: ones where the gain is already part of their weights. */
  gain(name: string): Value;
  /** Prepares activations [.., width] once for all the products that read them. */
  operand(graph: Graph, x: Value, width: number, read: Activation): Operand;
  /** Multiplies activations [.., in] by a weight [out, in]. */
  linear(graph: Graph, operand: Operand, name: string): Value;
}

const matmul = 'com.microsoft:FusedMatMul';

/** Declares all weights in the main graph, where the bodies of loops can use them. */
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
  const gains = new Map<string, Value>();
  const norm = (name: string): Value => {
    if (!config.gainOffset) return slotOf(name).name;
    const known =
      gains.get(name) ?? graph.op('Add', [slotOf(name).name, graph.scalarFloat(config.gainOffset)]);
    gains.set(name, known);
    return known;
  };
  return {
    value: (name) => slotOf(name).name,
    norm,
    gain: (name) => (type === 'w8a8' ? ones(slotOf(name).shape[0]!) : norm(name)),
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

/** The zero point. Activations are unsigned, because the runtime's kernel for signed ones is seven times slower. */
const middle = (graph: Graph): Value => graph.constant(DataType.UINT8, [], Uint8Array.of(128));

/** Quantizes activations. Those that do not come from a norm are divided by their root mean square here. */
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
