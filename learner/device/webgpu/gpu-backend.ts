/**
 * tfjs' WebGPU backend with two additions: `dispatch`, which runs a compute shader that may have several outputs and outputs that are also
 * inputs, with one pipeline per source, and tensors that are held in two bytes a value. It records into tfjs' command encoder, so our kernels and
 * tfjs' run in order without extra submits.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: the encoder is private in tfjs' types, and TypeScript lets private members through in brackets only
import { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { fromBfloat16, fromHalf } from '../../../model/half.ts';
import * as tf from '../../tfjs.ts';
import type { GpuDevice } from './adapter.ts';
import { accessor, elementOf, type HalfType, type HeldAs } from './half-values.ts';
import { GROUP, perElement, type Variants } from './wgsl.ts';

const sizeOf = (t: tf.TensorInfo): number => tf.util.sizeFromShape(t.shape);

type DataId = Parameters<WebGPUBackend['read']>[0];

/** f32 uniforms are wrapped, plain numbers are u32. */
export type Uniform = number | { readonly f32: number };
export const float = (value: number): Uniform => ({ f32: value });

export interface Dispatch {
  /** WGSL with `fn main`; it refers to buffers by their names in `outputs` and `inputs`, and to uniforms by `u.name`. */
  source: string | Variants;
  /** Buffers with access read_write; they may hold values already. */
  outputs: Record<string, tf.TensorInfo>;
  inputs: Record<string, tf.TensorInfo>;
  /** Float inputs that the source reads by `<name>_at(index)`, so that they may be held in two bytes a value. */
  read?: readonly string[];
  /** Float buffers that the source sees as arrays of vec4f; their sizes are multiples of four. */
  vectors?: readonly string[];
  uniforms: Record<string, Uniform>;
  /** Number of workgroups; they are laid out in two dimensions where one is too short. */
  groups: number;
}

const MAX_GROUPS = 65535;
/** Buffers of uniforms that are kept, a hundred bytes each. */
const MAX_UNIFORMS = 4096;
/** How far allocation may exceed what a step needs at once before free buffers are released. */
const SLACK = { factor: 1.5, bytes: 1 << 20 };

const WIDEN = perElement('u.size', '  y[i] = x_at(i);');

/** `held`: the form of the inputs that are held in two bytes a value, by their names. */
function declarations(
  { outputs, inputs, uniforms, vectors = [], read = [] }: Dispatch,
  held: ReadonlyMap<string, HeldAs>,
): string {
  const access = (name: string): string => (name in outputs ? 'read_write' : 'read');
  const typeOf = (name: string, dtype: tf.DataType): string =>
    dtype === 'int32' ? 'i32' : vectors.includes(name) ? 'vec4f' : 'f32';
  const buffers = Object.entries({ ...outputs, ...inputs }).map(([name, { dtype }], binding) => {
    const form = held.get(name);
    const type = form ? elementOf(form) : typeOf(name, dtype);
    return `@group(0) @binding(${binding}) var<storage, ${access(name)}> ${name}: array<${type}>;`;
  });
  const accessors = read.map((name) => accessor(name, held.get(name)));
  const fields = Object.entries(uniforms).map(
    ([name, value]) => `${name}: ${typeof value === 'number' ? 'u32' : 'f32'}`,
  );
  return `${buffers.join('\n')}
struct Uniforms { ${fields.join(', ')} };
@group(0) @binding(${buffers.length}) var<uniform> u: Uniforms;
${accessors.join('\n')}
`;
}

/** A part of a buffer that several tensors share. */
interface View {
  /** The buffer, as a tensor that no view's disposal reaches before the last one's. */
  readonly whole: { readonly info: tf.TensorInfo; views: number };
  /** Values. */
  readonly offset: number;
  readonly size: number;
}

/** A tensor whose values are held in two bytes each. */
interface Half {
  readonly type: HalfType;
  readonly held: HeldAs;
  readonly size: number;
}

export class GpuBackend extends WebGPUBackend {
  /** By their sources, and by what is declared before them. */
  readonly #pipelines = new Map<string, Map<string, GPUComputePipeline>>();
  readonly #uniforms = new Map<string, GPUBufferBinding>();
  readonly #check: () => void;
  readonly #features: GpuDevice['features'];
  readonly #halves = new Map<DataId, Half>();
  readonly #views = new Map<DataId, View>();
  /** Most bytes in use since the last `finish`. */
  #peakBytes = 0;
  #dispatches = 0;

  constructor(gpu: GpuDevice) {
    super(gpu.device, gpu.info);
    this.#check = gpu.check;
    this.#features = gpu.features;
    // tfjs' own kernels bind their tensors by this, too.
    const whole = this['tensorToBinding'].bind(this);
    this['tensorToBinding'] = (tensor: tf.TensorInfo) => {
      const view = tensor && this.#views.get(tensor.dataId);
      if (!view) return whole(tensor);
      const { resource } = this.tensorMap.get(tensor.dataId);
      return { buffer: resource as GPUBuffer, offset: 4 * view.offset, size: 4 * view.size };
    };
  }

  /** A float32 tensor whose buffer is not initialised. */
  output(shape: number[]): tf.TensorInfo {
    return this.makeTensorInfo(shape, 'float32');
  }

  /** A float32 tensor that is held in two bytes a value, for weights that are frozen; kernels that do not know of it get it as float32. */
  half(shape: number[], type: HalfType, bits: Uint16Array): tf.TensorInfo {
    const words = new Int32Array(Math.ceil(bits.length / 2));
    new Uint16Array(words.buffer).set(bits);
    const { dataId } = this.makeTensorInfo([words.length], 'int32', words);
    this.uploadToGPU(dataId);
    const held = type === 'F16' && this.#features.has('shader-f16') ? 'f16' : type;
    this.#halves.set(dataId, { type, held, size: bits.length });
    return { dataId, shape, dtype: 'float32' };
  }

  isHalf({ dataId }: tf.TensorInfo): boolean {
    return this.#halves.has(dataId);
  }

  /** From here on the tensor is held in float32. */
  #widenForGood(x: tf.TensorInfo): void {
    const half = this.#halves.get(x.dataId);
    if (!half) return;
    const y = this.output([half.size]);
    const groups = Math.ceil(half.size / GROUP);
    this.dispatch({
      source: WIDEN,
      outputs: { y },
      inputs: { x },
      read: ['x'],
      uniforms: { size: half.size },
      groups,
    });
    const [mine, wide] = [this.tensorMap.get(x.dataId), this.tensorMap.get(y.dataId)];
    const { resource } = mine;
    Object.assign(mine, { dtype: 'float32', shape: wide.shape, resource: wide.resource, values: null });
    // The words go with the tensor that is disposed, when the GPU has read them.
    wide.resource = resource!;
    this.#halves.delete(x.dataId);
    this.disposeData(y.dataId);
  }

  /**
   * One buffer in which float32 tensors lie at these offsets, multiples of 64 values. They are moved there where they do not lie so yet, and stay: they are
   * the same tensors as before.
   */
  placed(tensors: readonly tf.TensorInfo[], offsets: readonly number[], length: number): tf.TensorInfo {
    const [first] = tensors.map(({ dataId }) => this.#views.get(dataId));
    const there = (tensor: tf.TensorInfo, i: number): boolean => {
      const view = this.#views.get(tensor.dataId);
      return view?.whole === first?.whole && view?.offset === offsets[i];
    };
    if (first && sizeOf(first.whole.info) === length && tensors.every(there)) return first.whole.info;
    const whole = { info: this.output([length]), views: tensors.length };
    this.uploadToGPU(whole.info.dataId);
    const { resource } = this.tensorMap.get(whole.info.dataId);
    for (const [i, tensor] of tensors.entries()) {
      this.uploadToGPU(tensor.dataId);
      const view = { whole, offset: offsets[i]!, size: sizeOf(tensor) };
      this.#copy(tensor, resource as GPUBuffer, view.offset);
      this.#replace(tensor, resource as GPUBuffer);
      this.#leave(tensor.dataId);
      this.#views.set(tensor.dataId, view);
    }
    return whole.info;
  }

  /** Copies a tensor's values into a buffer. */
  #copy(tensor: tf.TensorInfo, to: GPUBuffer, offset: number): void {
    this.ensureCommandEncoderReady();
    this.endComputePassEncoder();
    const { buffer, offset: from = 0 } = this['tensorToBinding'](tensor) as GPUBufferBinding;
    this['commandEncoder'].copyBufferToBuffer(buffer, from, to, 4 * offset, 4 * sizeOf(tensor));
  }

  /** Gives a tensor another buffer, which is not its own; the one that was goes once the GPU is done with it. */
  #replace({ dataId, shape }: tf.TensorInfo, buffer: GPUBuffer): void {
    const mine = this.tensorMap.get(dataId);
    if (!this.#views.has(dataId)) {
      const before = this.makeTensorInfo(shape, 'float32');
      this.tensorMap.get(before.dataId).resource = mine.resource!;
      this['commandQueueOwnedIds'].add(before.dataId);
      this.disposeData(before.dataId);
    }
    Object.assign(mine, { resource: buffer, external: true, values: null });
  }

  /** The tensor is no view any more. */
  #leave(dataId: DataId): void {
    const view = this.#views.get(dataId);
    if (!view) return;
    this.#views.delete(dataId);
    view.whole.views--;
    if (view.whole.views === 0) {
      this['commandQueueOwnedIds'].add(view.whole.info.dataId);
      this.disposeData(view.whole.info.dataId);
    }
  }

  override disposeData(dataId: DataId, force = false): boolean {
    const gone = super.disposeData(dataId, force);
    if (gone) {
      this.#halves.delete(dataId);
      this.#leave(dataId);
    }
    return gone;
  }

  /** Shaders that have been dispatched so far, ours and tfjs'. A small model's step takes as long as its dispatches are many. */
  get dispatches(): number {
    return this.#dispatches;
  }

  override runWebGPUProgram(...work: Parameters<WebGPUBackend['runWebGPUProgram']>): tf.TensorInfo {
    this.#dispatches++;
    for (const input of work[1]) this.#widenForGood(input);
    return super.runWebGPUProgram(...work);
  }

  dispatch(work: Dispatch): void {
    const { outputs, inputs, uniforms, groups, read = [] } = work;
    this.#check();
    if (groups === 0) return;
    this.#dispatches++;
    const held = new Map<string, HeldAs>();
    for (const [name, input] of Object.entries(inputs)) {
      const half = this.#halves.get(input.dataId);
      if (half && read.includes(name)) held.set(name, half.held);
      else if (half) this.#widenForGood(input);
    }
    const tensors = Object.values({ ...outputs, ...inputs });
    for (const { dataId } of tensors) {
      this.uploadToGPU(dataId);
      this['commandQueueOwnedIds'].add(dataId);
    }
    this.#peakBytes = Math.max(this.#peakBytes, this.bufferManager.numBytesUsed);
    // tfjs keeps the values it has read; a tensor that changes in place must forget them.
    for (const { dataId } of Object.values(outputs)) Reflect.set(this.tensorMap.get(dataId), 'values', null);
    const resources = [...tensors.map((t) => this['tensorToBinding'](t)), this.#uniformsOf(uniforms)];
    const source =
      typeof work.source === 'string'
        ? work.source
        : work.source[this.#features.has('subgroups') ? 'subgroups' : 'plain'];
    const pipeline = this.#pipeline(source, work, held);
    const bindGroup = this.device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
    this.ensureCommandEncoderReady();
    this['computePassEncoder'] ??= this['commandEncoder'].beginComputePass();
    const pass = this['computePassEncoder'];
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    const columns = Math.min(groups, MAX_GROUPS);
    pass.dispatchWorkgroups(columns, Math.ceil(groups / columns));
    if (++this['dispatchCountInPass'] < tf.env().getNumber('WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE')) return;
    this.endComputePassEncoder();
    this.submitQueue();
  }

  /** Submits what is recorded and resolves when the GPU has done it. */
  async finish(): Promise<void> {
    this.ensureCommandEncoderReady();
    this.endComputePassEncoder();
    this.submitQueue();
    await this.queue.onSubmittedWorkDone();
    this.#check();
    this.#trim();
  }

  /** Releases free buffers: tfjs keeps one for the next tensor of exactly its size, which may never come if batches change in size. */
  #trim(): void {
    const manager = this.bufferManager;
    const enough = SLACK.factor * this.#peakBytes + SLACK.bytes;
    this.#peakBytes = manager.numBytesUsed;
    if (manager.numBytesAllocated <= enough) return;
    const lists: Map<string, GPUBuffer[]> = manager['freeBuffers'];
    for (const free of lists.values())
      for (const buffer of free.splice(0)) {
        manager.numBytesAllocated -= buffer.size;
        manager['numFreeBuffers']--;
        buffer.destroy();
      }
  }

  override async read(dataId: DataId): Promise<tf.backend_util.BackendValues> {
    const view = this.#views.get(dataId);
    if (view) {
      const copy = this.output([view.size]);
      this.uploadToGPU(copy.dataId);
      const { resource } = this.tensorMap.get(copy.dataId);
      this.#copy({ dataId, shape: [view.size], dtype: 'float32' }, resource as GPUBuffer, 0);
      const values = await this.read(copy.dataId);
      this.disposeData(copy.dataId);
      return values;
    }
    const half = this.#halves.get(dataId);
    const values = await super.read(dataId);
    this.#check();
    if (!half) return values;
    const bits = new Uint16Array((values as Int32Array).slice().buffer, 0, half.size);
    return half.type === 'BF16' ? fromBfloat16(bits) : fromHalf(bits);
  }

  /** The pipeline of a source; what its buffers and uniforms are called, and which form they have, may be different at the next call. */
  #pipeline(source: string, work: Dispatch, held: ReadonlyMap<string, HeldAs>): GPUComputePipeline {
    const { outputs, inputs, uniforms, vectors = [], read = [] } = work;
    let declared = `${vectors.join()};${read.join()};${[...held].join()}`;
    for (const buffers of [outputs, inputs]) {
      declared += ';';
      for (const name in buffers) declared += `${name}:${buffers[name]!.dtype},`;
    }
    for (const name in uniforms) declared += `${name}:${typeof uniforms[name]},`;
    const pipelines = this.#pipelines.get(source) ?? new Map<string, GPUComputePipeline>();
    this.#pipelines.set(source, pipelines);
    const known = pipelines.get(declared);
    if (known) return known;
    const enables = [
      ...(typeof work.source !== 'string' && this.#features.has('subgroups') ? ['enable subgroups;'] : []),
      ...([...held.values()].includes('f16') ? ['enable f16;'] : []),
    ];
    const module = this.device.createShaderModule({
      code: enables.join('\n') + declarations(work, held) + source,
    });
    const pipeline = this.device.createComputePipeline({
      layout: 'auto',
      compute: { module, entryPoint: 'main' },
    });
    pipelines.set(declared, pipeline);
    return pipeline;
  }

  /** A buffer of these values, which are those of the step before but for a few, so that it is often there. */
  #uniformsOf(uniforms: Readonly<Record<string, Uniform>>): GPUBufferBinding {
    const values = Object.values(uniforms);
    const words = new Uint32Array(values.length);
    const floats = new Float32Array(words.buffer);
    for (const [i, value] of values.entries())
      if (typeof value === 'number') words[i] = value;
      else floats[i] = value.f32;
    const key = words.join();
    const known = this.#uniforms.get(key);
    if (known) return known;
    // Those that are in use live as long as the commands that read them.
    if (this.#uniforms.size >= MAX_UNIFORMS) this.#uniforms.clear();
    const { UNIFORM, COPY_DST } = GPUBufferUsage;
    const buffer = this.device.createBuffer({ size: words.byteLength, usage: UNIFORM | COPY_DST });
    this.queue.writeBuffer(buffer, 0, words);
    const binding = { buffer, offset: 0, size: words.byteLength };
    this.#uniforms.set(key, binding);
    return binding;
  }
}
