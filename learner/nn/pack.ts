/**
 * Packs sequences end to end. There is no padding, so none is computed and no mask tensor is needed. Scored tokens are numbered
 * consecutively over all sequences; all per-token arrays of the losses are [scored] in that order.
 */
import { wrongInput } from '../../core/errors.ts';
import { isPatch } from '../../core/images/patches.ts';

export interface SequenceInput {
  /** Tokens of prompt and completion. */
  readonly ids: readonly number[];
  /** Index of the first scored token, at least 1: the prompt's length. */
  readonly from: number;
}

export interface PackedBatch {
  /** All tokens [tokens]; 0 for a patch of an image. */
  readonly ids: Int32Array;
  /** The sequences that show images, by the number of their first token; absent = none does. */
  readonly shown?: readonly { readonly at: number; readonly ids: readonly number[] }[];
  /** Sequence b owns tokens offsets[b] … offsets[b+1]-1; [sequences + 1]. */
  readonly offsets: Int32Array;
  /** Row of the token before each scored one: the row that predicts it [scored]. */
  readonly rows: Int32Array;
  /** The scored tokens themselves [scored]. */
  readonly targets: Int32Array;
  /** Scored tokens of each sequence [sequences]. */
  readonly scored: readonly number[];
  /** Tokens of the longest sequence. */
  readonly longest: number;
}

/** Throws `wrong-input` for an empty batch, a sequence with nothing to score, or `from` out of range. */
export function packSequences(sequences: readonly SequenceInput[]): PackedBatch {
  const scored = sequences.map(({ ids, from }, i) => {
    if (!Number.isInteger(from) || from < 1 || from >= ids.length)
      throw wrongInput('learner.sequence', `Sequence ${i} of ${ids.length} tokens is scored from ${from}.`, {
        expected: 'an index from 1 to its last token',
        next: 'Leave sequences without scored tokens out of the batch.',
      });
    return ids.length - from;
  });
  const total = scored.reduce((a, b) => a + b, 0);
  if (total === 0)
    throw wrongInput('learner.empty-batch', 'The batch has no sequences.', { next: 'Skip this step.' });
  const offsets = Int32Array.from([0, ...sequences.map(({ ids }) => ids.length)]);
  for (let b = 1; b < offsets.length; b++) offsets[b]! += offsets[b - 1]!;
  const ids = new Int32Array(offsets.at(-1)!);
  const rows = new Int32Array(total);
  const targets = new Int32Array(total);
  let next = 0;
  const shown: { at: number; ids: readonly number[] }[] = [];
  sequences.forEach((sequence, b) => {
    const shows = sequence.ids.some(isPatch);
    if (shows) shown.push({ at: offsets[b]!, ids: sequence.ids });
    ids.set(shows ? sequence.ids.map((id) => (isPatch(id) ? 0 : id)) : sequence.ids, offsets[b]!);
    for (let i = sequence.from; i < sequence.ids.length; i++, next++) {
      if (isPatch(sequence.ids[i]!))
        throw wrongInput('learner.patch', `Sequence ${b} has a patch of an image where it is scored.`, {
          expected: 'images in prompts alone',
        });
      rows[next] = offsets[b]! + i - 1;
      targets[next] = sequence.ids[i]!;
    }
  });
  return {
    ids,
    offsets,
    rows,
    targets,
    scored,
    ...(shown.length ? { shown } : {}),
    longest: Math.max(...sequences.map(({ ids }) => ids.length)),
  };
}

/** Groups of sequence indices, in order, with at most `tokenBudget` tokens each; a longer sequence is a group of its own. */
export function microBatches(sequences: readonly SequenceInput[], tokenBudget: number): number[][] {
  const groups: number[][] = [];
  let room = 0;
  sequences.forEach(({ ids }, i) => {
    if (groups.length === 0 || ids.length > room) {
      groups.push([]);
      room = tokenBudget;
    }
    groups.at(-1)!.push(i);
    room -= ids.length;
  });
  return groups;
}
