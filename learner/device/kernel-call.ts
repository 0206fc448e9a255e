/** Registers kernels of a device in tfjs, with typed access to inputs, outputs and numbers. */
import * as tf from '../tfjs.ts';

export interface KernelCall<Backend> {
  readonly backend: Backend;
  readonly inputs: Record<string, tf.TensorInfo>;
  /** An attribute that must be a number or a boolean (as 0 and 1). */
  number(name: string): number;
  /** An attribute that must be a list of numbers. */
  numbers(name: string): readonly number[];
}

export const sizeOf = (t: tf.TensorInfo): number => tf.util.sizeFromShape(t.shape);

/** What registers a kernel of the backend `backendName`, replacing the one that it has of tfjs if there is one. */
export const registerOn =
  <Backend>(backendName: string) =>
  (kernelName: string, run: (call: KernelCall<Backend>) => tf.TensorInfo | tf.TensorInfo[]): void => {
    if (tf.getKernel(kernelName, backendName)) tf.unregisterKernel(kernelName, backendName);
    tf.registerKernel({
      kernelName,
      backendName,
      kernelFunc: ({ inputs, backend, attrs }) =>
        run({
          backend: backend as Backend,
          inputs: inputs as Record<string, tf.TensorInfo>,
          number: (name) => Number(attrs?.[name]),
          numbers: (name) => attrs?.[name] as number[],
        }),
    });
  };

/** Inputs `<prefix>0`, `<prefix>1`, …, as many as there are. */
export function numbered(inputs: Record<string, tf.TensorInfo>, prefix: string): tf.TensorInfo[] {
  const list: tf.TensorInfo[] = [];
  for (let input = inputs[`${prefix}0`]; input; input = inputs[`${prefix}${list.length}`]) list.push(input);
  return list;
}

/** An input as an output: it has the same data. */
export function passedOn(
  { backend, inputs }: KernelCall<{ incRef(dataId: tf.DataId): void }>,
  name: string,
): tf.TensorInfo {
  const { dataId, shape, dtype } = inputs[name]!;
  backend.incRef(dataId);
  return { dataId, shape, dtype };
}
