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

export class SimdBackend extends MathBackendCPU {
  readonly runtime: KernelRuntime;
  /** Where a tensor's data lies in the kernels' memory; absent while it is an ordinary array. */
  readonly #addresses = new WeakMap<DataId, number>();
  /** Sizes of the tensors that are held as bfloat16. */
  readonly #halves = new WeakMap<DataId, number>();

  constructor(runtime: KernelRuntime) {
    super();
    this.runtime = runtime;
  }

  /** An uninitialised float32 tensor in the kernels' memory. */
  output(shape: number[]): tf.TensorInfo {
    const size = tf.util.sizeFromShape(shape);
    const address = this.runtime.arena.allocate(4 * size);
    const values = new Float32Array(this.runtime.memory.buffer, address, size);
    const dataId = super.write(values, shape, 'float32');
    this.#addresses.set(dataId, address);
    return { dataId, shape, dtype: 'float32' };
  }

  /** A float32 tensor that is held as bfloat16, for weights that are frozen. Kernels that know of it widen as they read. */
  half(shape: number[], bits: Uint16Array): tf.TensorInfo {
    const address = this.runtime.arena.allocate(bits.byteLength);
    new Uint16Array(this.runtime.memory.buffer, address, bits.length).set(bits);
    const dataId = super.write(NO_VALUES, shape, 'float32');
    this.#addresses.set(dataId, address);
    this.#halves.set(dataId, bits.length);
    // tfjs' own kernels read the values of a tensor as a property.
    const get = (): Float32Array => {
      this.#widenForGood(dataId);
      return this.data.get(dataId).values as Float32Array;
    };
    Object.defineProperty(this.data.get(dataId), 'values', { get, configurable: true });
    return { dataId, shape, dtype: 'float32' };
  }

  isHalf(t: tf.TensorInfo): boolean {
    return this.#halves.has(t.dataId);
  }

  /** Address of the values in whichever form they are held, see `isHalf`. */
  storedAddress(t: tf.TensorInfo): number {
    return this.isHalf(t) ? this.#addresses.get(t.dataId)! : this.address(t);
  }

  /** Address of a float32 or int32 tensor; an ordinary array moves into the kernels' memory once, and a tensor held as bfloat16 is held as float32 from then on. */
  address(t: tf.TensorInfo): number {
    this.#widenForGood(t.dataId);
    const known = this.#addresses.get(t.dataId);
    if (known !== undefined) return known;
    const data = this.data.get(t.dataId);
    // What tfjs casts from booleans has the type float32 and its bytes.
    const values = data.values as Float32Array | Int32Array | Uint8Array;
    const address = this.runtime.arena.allocate(4 * values.length);
    const View = t.dtype === 'int32' ? Int32Array : Float32Array;
    const moved = new View(this.runtime.memory.buffer, address, values.length);
    moved.set(values);
    data.values = moved;
    this.#addresses.set(t.dataId, address);
    return address;
  }

  /** A float32 tensor's own values, not a copy: for kernels that read a handful of numbers. */
  view(t: tf.TensorInfo): Float32Array {
    return this.data.get(t.dataId).values as Float32Array;
  }

  #widenForGood(dataId: DataId): void {
    const size = this.#halves.get(dataId);
    if (size === undefined) return;
    const half = this.#addresses.get(dataId)!;
    const address = this.runtime.arena.allocate(4 * size);
    this.runtime.run('widenValues', [size, half, address], size);
    this.#halves.delete(dataId);
    this.runtime.arena.release(half);
    this.#addresses.set(dataId, address);
    const value = new Float32Array(this.runtime.memory.buffer, address, size);
    Object.defineProperty(this.data.get(dataId), 'values', { value, writable: true });
  }

  override write(values: Values, shape: number[], dtype: tf.DataType): DataId {
    // Some tfjs kernels return a view of their input. The kernels' memory is recycled, so such a view must become a copy.
    return super.write(isShared(values) ? values.slice() : values, shape, dtype);
  }

  override readSync(dataId: DataId): ReturnType<MathBackendCPU['readSync']> {
    const size = this.#halves.get(dataId);
    if (size !== undefined)
      return fromBfloat16(new Uint16Array(this.runtime.memory.buffer, this.#addresses.get(dataId)!, size));
    const values = super.readSync(dataId);
    return isShared(values) ? values.slice() : values; // the caller keeps what it reads
  }

  override disposeData(dataId: DataId, force = false): boolean {
    const gone = super.disposeData(dataId, force);
    const address = this.#addresses.get(dataId);
    if (gone && address !== undefined) {
      this.#addresses.delete(dataId);
      this.#halves.delete(dataId);
      this.runtime.arena.release(address);
    }
    return gone;
  }

  override dispose(): void {
    this.runtime.stop();
  }
}

/** What a tensor that is held as bfloat16 begins with. */
const NO_VALUES = new Float32Array(0);

const isShared = (values: Values): values is Float32Array =>
  ArrayBuffer.isView(values) && values.buffer instanceof SharedArrayBuffer;
