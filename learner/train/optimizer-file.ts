/** The optimiser's state as a safetensors file, so that a version holds all that the next round's training needs. */
import { wrongInput } from '../../core/errors.ts';
import { fromBfloat16, toBfloat16 } from '../../model/half.ts';
import {
  decode,
  readMetadata,
  readSafetensors,
  readStored,
  type StoredTensor,
  type Tensors,
  writeSafetensors,
  writeStored,
} from '../../model/safetensors.ts';
import type { AdamWState } from '../nn/adamw.ts';
import { BLOCK, fromSmall, type MomentKind, toSmall } from './small-moments.ts';

/** The number of updates is stored as float32, which is exact up to 2^24. */
const STEP = 'step';
const SCALE = '.scale';
/** How a file says that its moments have 8 bits. */
const METADATA = { moments: 'int8' } as const;

const float32 = (data: Float32Array, shape: readonly number[] = [data.length]): StoredTensor => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
});
/** The weights in float32, where the version has them in bfloat16. */
const MASTER = 'master.';
const kindOf = (name: string): MomentKind => (name.startsWith('mean.') ? 'mean' : 'square');

/**
 * `moments`: 'int8' stores them in 8 bits, which loses some of their precision (small-moments.ts). `masters`: the weights in float32, to be kept
 * beside them.
 */
export function writeOptimizer(
  { step, tensors }: AdamWState,
  moments?: 'int8',
  masters: Tensors = new Map(),
): Uint8Array {
  const kept = [...masters].map(([name, tensor]) => [MASTER + name, tensor] as const);
  if (!moments)
    return writeSafetensors(
      new Map([...tensors, ...kept, [STEP, { shape: [1], data: Float32Array.of(step) }]]),
    );
  const stored = new Map<string, StoredTensor>();
  for (const [name, { shape, data }] of tensors) {
    const { codes, scales } = toSmall(data, kindOf(name));
    stored.set(name, { dtype: 'U8', shape, bytes: codes });
    stored.set(`${name}${SCALE}`, float32(scales));
  }
  for (const [name, { shape, data }] of kept) stored.set(name, float32(data, shape));
  return writeStored(stored.set(STEP, float32(Float32Array.of(step))), METADATA);
}

/** An optimiser's state that a Tinker server keeps, with the weights that it belongs to. */
export interface RemoteOptimizer {
  /** The address of the checkpoint. */
  readonly path: string;
  /** Updates done so far. */
  readonly steps: number;
}

export const writeRemoteOptimizer = ({ path, steps }: RemoteOptimizer): Uint8Array =>
  writeStored(new Map(), { tinker: path, steps: String(steps) });

/** Where the state is that a file stands for; undefined for a file that holds it. */
export function readRemoteOptimizer(bytes: Uint8Array): RemoteOptimizer | undefined {
  const { tinker: path, steps } = readMetadata(bytes);
  return path === undefined ? undefined : { path, steps: Number(steps) };
}

/** Throws `wrong-input` where the file is no optimiser state (see AdamW.importState for one of another model), or a server keeps it. */
export function readOptimizer(bytes: Uint8Array): AdamWState {
  const remote = readRemoteOptimizer(bytes);
  if (remote)
    throw wrongInput(
      'learner.optimiser-elsewhere',
      `The optimiser's state is on a Tinker server, at ${remote.path}.`,
      {
        expected: 'the learner to train on that server',
        next: 'Start it with --backend tinker:URL; or export the version and import it as a policy of its own, whose optimiser begins anew.',
      },
    );
  const tensors =
    readMetadata(bytes).moments === METADATA.moments ? readSmall(bytes) : readSafetensors(bytes);
  const step = tensors.get(STEP)?.data[0] ?? 0;
  tensors.delete(STEP);
  for (const name of tensors.keys()) if (name.startsWith(MASTER)) tensors.delete(name);
  return { step, tensors };
}

/**
 * The float32 weights that an optimiser's file keeps of weights that are stored in bfloat16; the stored ones where it keeps none, or others: a set that
 * was since changed without its optimiser begins with what is stored. Throws as `readOptimizer` does.
 */
export function exactOf(stored: Tensors, optimizer: Uint8Array | undefined): Tensors {
  const masters: Tensors = new Map();
  for (const [name, { dtype, shape, bytes }] of optimizer ? readStored(optimizer) : [])
    if (name.startsWith(MASTER) && dtype === 'F32')
      masters.set(name.slice(MASTER.length), { shape: [...shape], data: decode(dtype, bytes) });
  const same = [...stored].every(([name, { data }]) => {
    const rounded = toBfloat16(masters.get(name)?.data ?? new Float32Array());
    return rounded.length === data.length && fromBfloat16(rounded).every((x, i) => x === data[i]);
  });
  return same ? masters : stored;
}

function readSmall(bytes: Uint8Array): Tensors {
  const stored = readStored(bytes);
  const tensors: Tensors = new Map();
  for (const [name, { dtype, shape, bytes: codes }] of stored) {
    if (name.endsWith(SCALE) || name.startsWith(MASTER)) continue;
    if (name === STEP) {
      tensors.set(name, { shape: [...shape], data: values(stored, name, 1) });
      continue;
    }
    if (dtype !== 'U8') throw refuse(`${name} has type ${dtype}`, 'U8');
    const scales = values(stored, `${name}${SCALE}`, Math.ceil(codes.length / BLOCK));
    tensors.set(name, { shape: [...shape], data: fromSmall({ codes, scales }, kindOf(name)) });
  }
  return tensors;
}

function values(stored: ReadonlyMap<string, StoredTensor>, name: string, count: number): Float32Array {
  const found = stored.get(name);
  if (found?.dtype !== 'F32' || found.bytes.length !== 4 * count)
    throw refuse(`has no ${name} of ${count} numbers`, 'one scale for each block of 256 values');
  return new Float32Array(new Uint8Array(found.bytes).buffer);
}

const refuse = (what: string, expected: string) =>
  wrongInput('learner.optimiser-state', `The optimiser state in 8 bits: ${what}.`, {
    expected,
    next: 'Train from the version before, whose files are whole.',
  });
