/**
 * tfjs' WebGPU backend with one addition: `dispatch`, which runs a compute shader that may have several outputs and outputs that are also
 * inputs, with one pipeline per source. It records into tfjs' command encoder, so our kernels and tfjs' run in order without extra submits.
 */
// biome-ignore-all lint/complexity/useLiteralKeys: the encoder is private in tfjs' types, and TypeScript lets private members through in brackets only
import { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import * as tf from '../../tfjs.ts';
import type { GpuDevice } from './adapter.ts';

type DataId = Parameters<WebGPUBackend['read']>[0];

/** f32 uniforms are wrapped, plain numbers are u32. */
export type Uniform = number | { readonly f32: number };
export const float = (value: number): Uniform => ({ f32: value });

export interface Dispatch {
  /** WGSL with `fn main`; it refers to buffers by their names in `outputs` and `inputs`, and to uniforms by `u.name`. */
  source: string;
  /** Buffers with access read_write; they may hold values already. */
  outputs: Record<string, tf.TensorInfo>;
  inputs: Record<string, tf.TensorInfo>;
  /** Float buffers that the source sees as arrays of vec4f; their sizes are multiples of four. */
  vectors?: readonly string[];
  uniforms: Record<string, Uniform>;
  /** Number of workgroups; they are laid out in two dimensions where one is too short. */
  groups: number;
}

const MAX_GROUPS = 65535;
/** How far allocation may exceed what a step needs at once before free buffers are released. */
const SLACK = { factor: 1.5, bytes: 1 << 20 };

function declarations({ outputs, inputs, uniforms, vectors = [] }: Dispatch): string {
  const access = (name: string): string => (name in outputs ? 'read_write' : 'read');
  const buffers = Object.entries({ ...outputs, ...inputs }).map(([name, { dtype }], binding) => {
    const type = dtype === 'int32' ? 'i32' : vectors.includes(name) ? 'vec4f' : 'f32';
    return `@group(0) @binding(${binding}) var<storage, ${access(name)}> ${name}: array<${type}>;`;
  });
  const fields = Object.entries(uniforms).map(
    ([name, value]) => `${name}: ${typeof value === 'number' ? 'u32' : 'f32'}`,
  );
  return `${buffers.join('\n')}
struct Uniforms { ${fields.join(', ')} };
@group(0) @binding(${buffers.length}) var<uniform> u: Uniforms;
`;
}

export class GpuBackend extends WebGPUBackend {
  readonly #pipelines = new Map<string, GPUComputePipeline>();
  readonly #check: () => void;
  /** Most bytes in use since the last `finish`. */
  #peakBytes = 0;
  #dispatches = 0;

  constructor(gpu: GpuDevice) {
    super(gpu.device, gpu.info);
    this.#check = gpu.check;
  }

  /** A float32 tensor whose buffer is not initialised. */
  output(shape: number[]): tf.TensorInfo {
    return this.makeTensorInfo(shape, 'float32');
  }

  /** Shaders that have been dispatched so far, ours and tfjs'. A small model's step takes as long as its dispatches are many. */
  get dispatches(): number {
    return this.#dispatches;
  }

  override runWebGPUProgram(...work: Parameters<WebGPUBackend['runWebGPUProgram']>): tf.TensorInfo {
    this.#dispatches++;
    return super.runWebGPUProgram(...work);
  }

  dispatch(work: Dispatch): void {
    const { outputs, inputs, uniforms, groups } = work;
    this.#check();
    if (groups === 0) return;
    this.#dispatches++;
    const tensors = Object.values({ ...outputs, ...inputs });
    for (const { dataId } of tensors) {
      this.uploadToGPU(dataId);
      this['commandQueueOwnedIds'].add(dataId);
    }
    this.#peakBytes = Math.max(this.#peakBytes, this.bufferManager.numBytesUsed);
    // tfjs keeps the values it has read; a tensor that changes in place must forget them.
    for (const { dataId } of Object.values(outputs)) Reflect.set(this.tensorMap.get(dataId), 'values', null);
    const values = Object.values(uniforms).map((value) =>
      typeof value === 'number' ? { type: 'uint32', data: [value] } : { type: 'float32', data: [value.f32] },
    );
    const resources = [...tensors.map((t) => this['tensorToBinding'](t)), this['makeUniforms'](values)];
    const pipeline = this.#pipeline(declarations(work) + work.source);
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
    const values = await super.read(dataId);
    this.#check();
    return values;
  }

  #pipeline(code: string): GPUComputePipeline {
    const known = this.#pipelines.get(code);
    if (known) return known;
    const module = this.device.createShaderModule({ code });
    const pipeline = this.device.createComputePipeline({
      layout: 'auto',
      compute: { module, entryPoint: 'main' },
    });
    this.#pipelines.set(code, pipeline);
    return pipeline;
  }
}
