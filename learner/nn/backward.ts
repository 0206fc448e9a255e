/**
 * Reverse-mode differentiation over tfjs' tape, like tf.grads, with two differences. Tensors that the rest of the backward pass does not
 * need are freed at once (tfjs keeps all of them to the end and takes several times the memory), and backward passes nest, which
 * recomputation needs.
 */
import { hasNoGradient } from '../ops/run-kernel.ts';
import * as tf from '../tfjs.ts';

type Node = ReturnType<typeof tf.engine>['state']['activeTape'][number];

/** Runs f and returns its value with the ops it recorded. */
function record<T extends tf.Tensor>(f: () => T): { value: T; tape: Node[] } {
  const { state } = tf.engine();
  const outer = { tape: state.activeTape, depth: state.gradientDepth };
  state.activeTape = [];
  state.gradientDepth = 1;
  try {
    return { value: tf.tidy(f), tape: state.activeTape };
  } finally {
    state.activeTape = outer.tape;
    state.gradientDepth = outer.depth;
  }
}

/** Ids of all tensors computed from xs, xs included. */
function descendants(tape: readonly Node[], xs: readonly tf.Tensor[]): Set<number> {
  const ids = new Set(xs.map((x) => x.id));
  for (const { inputs, outputs } of tape)
    if (Object.values(inputs).some((input) => ids.has(input.id)))
      for (const output of outputs) ids.add(output.id);
  return ids;
}

/** Gradients of those inputs of the node that are in `matters`, given the gradients of its outputs; each is a tensor of its own. */
function inputGradients(
  node: Node,
  dys: (tf.Tensor | undefined)[],
  matters: Set<number>,
): [tf.Tensor, tf.Tensor][] {
  if (!node.gradient) throw new Error(`internal: the kernel ${node.kernelName} has no gradient.`);
  // The type asks for every output's gradient, but an unused output has none, and tfjs fills in zeros of its size. Where the kernel's gradient does
  // not read them, the output itself takes their place.
  const given = dys.map((dy, i) => dy ?? (hasNoGradient(node.kernelName, i) ? node.outputs[i] : undefined));
  const closures = node.gradient(given as tf.Tensor[]);
  const seen = new Set<tf.Tensor | undefined>([...dys, ...(node.saved ?? [])]);
  return Object.entries(node.inputs)
    .filter(([, input]) => matters.has(input.id))
    .map(([name, input]) => {
      const closure = closures[name];
      if (!closure) throw new Error(`internal: ${node.kernelName} has no gradient for its input ${name}.`);
      // What a closure makes besides, such as the gradients of other inputs, lives until the node is done.
      const dx = closure();
      const own = seen.has(dx) ? tf.clone(dx) : dx;
      seen.add(own);
      return [input, own];
    });
}

/**
 * Value of f and its gradients with respect to xs (undefined where f does not depend on one). `upstream` is the gradient of the value,
 * ones by default. All intermediate tensors are disposed.
 */
export function backward<T extends tf.Tensor>(
  f: () => T,
  xs: readonly tf.Tensor[],
  upstream?: tf.Tensor,
): { value: T; grads: (tf.Tensor | undefined)[] } {
  const { value, tape } = record(f);
  const matters = descendants(tape, xs);
  const wanted = new Set(xs.map((x) => x.id));
  const found = new Map<number, tf.Tensor>([[value.id, upstream ? tf.clone(upstream) : tf.onesLike(value)]]);
  for (let node = tape.pop(); node; node = tape.pop()) {
    const dys = node.outputs.map(({ id }) => found.get(id));
    if (dys.some((dy) => dy) && node.outputs.some(({ id }) => matters.has(id)))
      tf.tidy(() => {
        const kept: tf.Tensor[] = [];
        for (const [input, dx] of inputGradients(node!, dys, matters)) {
          const before = found.get(input.id);
          const sum = before ? tf.add(before, dx) : dx;
          before?.dispose();
          found.set(input.id, sum);
          kept.push(sum);
        }
        return kept;
      });
    for (const { id } of node.outputs) {
      if (wanted.has(id)) continue;
      found.get(id)?.dispose();
      found.delete(id);
    }
    tf.dispose(node.saved ?? []);
  }
  const grads = xs.map(({ id }) => found.get(id));
  for (const [id, gradient] of found) if (!wanted.has(id)) gradient.dispose();
  return { value, grads };
}

/**
 * Gradient checkpointing: f(x), whose intermediate tensors are not kept but computed again in the backward pass. f may use `parameters`,
 * which get their gradients too. It costs one more forward pass of f.
 */
export function recomputed<T extends tf.Tensor>(f: (x: T) => T, x: T, parameters: readonly tf.Tensor[]): T {
  const run = tf.customGrad((...inputs) => {
    const save = inputs.at(-1) as tf.GradSaveFunc;
    save([inputs[0] as tf.Tensor]);
    return {
      value: f(inputs[0] as T),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const again = saved[0] as T;
        const { value, grads } = backward(() => f(again), [again, ...parameters], dy);
        value.dispose();
        return grads.map((gradient, i) => gradient ?? tf.zerosLike(i === 0 ? again : parameters[i - 1]!));
      },
    };
  });
  return run(x, ...parameters) as T;
}

/**
 * Σ f(block, first) over blocks of consecutive rows of x [total, width], a scalar. Each block's intermediate tensors are freed before
 * the next block, and computed again in the backward pass. f may use `parameters`, which get their gradients too, and gets `constants`,
 * which are kept until the backward pass and have none; it may use no other tensor that is disposed before.
 */
export function summedByRows<C extends readonly tf.Tensor[]>(
  f: (block: tf.Tensor2D, first: number, constants: C) => tf.Scalar,
  x: tf.Tensor2D,
  rows: number,
  parameters: readonly tf.Tensor[],
  constants: C,
): tf.Scalar {
  const [total, width] = x.shape;
  const firsts = Array.from({ length: Math.ceil(total / rows) }, (_, i) => i * rows);
  const blockOf = (whole: tf.Tensor2D, first: number): tf.Tensor2D =>
    tf.slice(whole, [first, 0], [Math.min(rows, total - first), width]);
  const run = tf.customGrad((...inputs) => {
    const save = inputs.at(-1) as tf.GradSaveFunc;
    const whole = inputs[0] as tf.Tensor2D;
    save([whole, ...constants]);
    const sums = firsts.map((first) => tf.tidy(() => f(blockOf(whole, first), first, constants)));
    return {
      value: sums.reduce((sum, next): tf.Scalar => tf.add(sum, next), tf.scalar(0)),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [again, ...kept] = saved as [tf.Tensor2D, ...tf.Tensor[]];
        const totals = parameters.map((parameter) => tf.zerosLike(parameter));
        const own = firsts.map((first) => {
          const block = blockOf(again, first);
          const { value, grads } = backward(
            () => f(block, first, kept as unknown as C),
            [block, ...parameters],
            dy,
          );
          const [mine, ...others] = grads;
          for (const [i, gradient] of others.entries()) {
            if (!gradient) continue;
            const before = totals[i]!;
            totals[i] = tf.add(before, gradient);
            tf.dispose([before, gradient]);
          }
          const dx = mine ?? tf.zerosLike(block);
          tf.dispose([value, block]);
          return dx;
        });
        const dx = own.length === 1 ? own[0]! : tf.concat(own, 0);
        return [dx, ...totals];
      },
    };
  });
  return run(x, ...parameters) as tf.Scalar;
}
