/**
 * The CPU device as a tfjs backend. It extends tfjs' plain JavaScript backend with tensors in the kernels' memory. Large ops are
 * overridden with kernels (see simd/), and small ones use tfjs' code.
 */
import { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { fromBfloat16 } from '../../model/half.ts';
import * as tf from '../tfjs.ts';
import type { KernelRuntime } from './kernel-runtime.ts';

type DataId = Parameters<MathBackendCPU['disposeData']>[0];
type Values = Parameters<MathBackendCPU['write']>[0];

/** Where a tensor's data lies in the kernels' memory. */
interface Placed {
  readonly address: number;
  /** Number of values. */
  readonly size: number;
  /** Held as bfloat16, for weights that are frozen. */
  readonly half: boolean;
}

export class SimdBackend extends MathBackendCPU {
  readonly runtime: KernelRuntime;
  /** The tensors in the kernels' memory; the others are ordinary arrays. */
  readonly #placed = new Map<DataId, Placed>();

  constructor(runtime: KernelRuntime) {
    super();
    this.runtime = runtime;
    runtime.arena.onGrown = () => this.#renewViews();
  }

  /** An uninitialised float32 tensor in the kernels' memory. */
  output(shape: number[]): tf.TensorInfo {
    const size = tf.util.sizeFromShape(shape);
    const address = this.runtime.arena.allocate(4 * size);
    const values = new Float32Array(this.runtime.memory.buffer, address, size);
    const dataId = super.write(values, shape, 'float32');
    this.#placed.set(dataId, { address, size, half: false });
    return { dataId, shape, dtype: 'float32' };
  }

  /** A float32 tensor that is held as bfloat16, for weights that are frozen. Kernels that know of it widen as they read. */
  half(shape: number[], bits: Uint16Array): tf.TensorInfo {
    const address = this.runtime.arena.allocate(bits.byteLength);
    new Uint16Array(this.runtime.memory.buffer, address, bits.length).set(bits);
    const dataId = super.write(NO_VALUES, shape, 'float32');
    this.#placed.set(dataId, { address, size: bits.length, half: true });
    // tfjs' own kernels read the values of a tensor as a property.
    const get = (): Float32Array => {
      this.#widenForGood(dataId);
      return this.data.get(dataId).values as Float32Array;
    };
    Object.defineProperty(this.data.get(dataId), 'values', { get, configurable: true });
    return { dataId, shape, dtype: 'float32' };
  }

  isHalf(t: tf.TensorInfo): boolean {
    return this.#placed.get(t.dataId)?.half ?? false;
  }

  /** Address of the values in whichever form they are held, see `isHalf`. */
  storedAddress(t: tf.TensorInfo): number {
    return this.isHalf(t) ? this.#placed.get(t.dataId)!.address : this.address(t);
  }

  /** Address of a float32 or int32 tensor; an ordinary array moves into the kernels' memory once, and a tensor held as bfloat16 is held as float32 from then on. */
  address(t: tf.TensorInfo): number {
    this.#widenForGood(t.dataId);
    const known = this.#placed.get(t.dataId);
    if (known) return known.address;
    const data = this.data.get(t.dataId);
    // What tfjs casts from booleans has the type float32 and its bytes.
    const values = data.values as Float32Array | Int32Array | Uint8Array;
    const size = values.length;
    const address = this.runtime.arena.allocate(4 * size);
    const moved = new (viewOf(t.dtype))(this.runtime.memory.buffer, address, size);
    moved.set(values);
    data.values = moved;
    this.#placed.set(t.dataId, { address, size, half: false });
    return address;
  }

  /** A float32 tensor's own values, not a copy: for kernels that read a handful of numbers. It ends at the next tensor that is made. */
  view(t: tf.TensorInfo): Float32Array {
    return this.data.get(t.dataId).values as Float32Array;
  }

  /** A memory of one thread gets another buffer when it grows, and views of the former one are empty from then on. */
  #renewViews(): void {
    const { buffer } = this.runtime.memory;
    for (const [dataId, { address, size, half }] of this.#placed) {
      if (half) continue;
      const data = this.data.get(dataId);
      data.values = new (viewOf(data.dtype))(buffer, address, size);
    }
  }

  #widenForGood(dataId: DataId): void {
    const held = this.#placed.get(dataId);
    if (!held?.half) return;
    const { size } = held;
    const address = this.runtime.arena.allocate(4 * size);
    this.runtime.run('widenValues', [size, held.address, address], size);
    this.runtime.arena.release(held.address);
    this.#placed.set(dataId, { address, size, half: false });
    const value = new Float32Array(this.runtime.memory.buffer, address, size);
    Object.defineProperty(this.data.get(dataId), 'values', { value, writable: true });
  }

  override write(values: Values, shape: number[], dtype: tf.DataType): DataId {
    // Some tfjs kernels return a view of their input. The kernels' memory is recycled, so such a view must become a copy.
    return super.write(this.#isView(values) ? values.slice() : values, shape, dtype);
  }

  override readSync(dataId: DataId): ReturnType<MathBackendCPU['readSync']> {
    const held = this.#placed.get(dataId);
    if (held?.half) return fromBfloat16(new Uint16Array(this.runtime.memory.buffer, held.address, held.size));
    const values = super.readSync(dataId);
    return this.#isView(values) ? values.slice() : values; // the caller keeps what it reads
  }

  override disposeData(dataId: DataId, force = false): boolean {
    const gone = super.disposeData(dataId, force);
    const held = this.#placed.get(dataId);
    if (gone && held) {
      this.#placed.delete(dataId);
      this.runtime.arena.release(held.address);
    }
    return gone;
  }

  #isView(values: Values): values is Float32Array {
    return ArrayBuffer.isView(values) && values.buffer === this.runtime.memory.buffer;
  }

  override dispose(): void {
    this.runtime.stop();
  }
}

/** What a tensor that is held as bfloat16 begins with. */
const NO_VALUES = new Float32Array(0);

const viewOf = (dtype: tf.DataType) => (dtype === 'int32' ? Int32Array : Float32Array);
