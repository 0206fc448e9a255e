/** Measurements: what a policy says of given sequences, beside what it samples. A stage asks for them by `RoundContext.measure`. */
import { RollmeshError, wrongInput } from '../errors.ts';
import { deriveId } from '../random.ts';
import type { Measurement } from '../schema/measurement.ts';
import type { HeadKind, MeasuredSequence, Policy, PolicyRef, TokenScores } from './policy.ts';

/** The key under which a record keeps a measurement: a hash of the weights' name and of the sequence. */
export const measurementKey = (
  { name, version, set, weights, engine }: PolicyRef,
  { prompt, ids, ends = [ids.length] }: MeasuredSequence,
): string => {
  const by = [name, version, set ?? '', weights ?? '', engine ?? ''].join(' ');
  return deriveId('measurement', by, prompt.join(), ids.join(), ends.join());
};

/**
 * Measures sequences by a policy's scores, in the order given. Throws `wrong-input` for a sequence that cannot be measured, and `give-up` where a
 * number is not finite, which JSON could not keep.
 */
export async function measure(
  policy: Policy,
  sequences: readonly MeasuredSequence[],
): Promise<Measurement[]> {
  if (policy.measure) return policy.measure(sequences);
  for (const sequence of sequences) checkSequence(sequence);
  const scores = await policy.score(sequences.map(({ prompt, ids }) => [...prompt, ...ids]));
  return sequences.map((sequence, i) => {
    const measured = measurementOf(policy.head, sequence, scores[i]!);
    expectFinite(policy.ref, measured);
    return measured;
  });
}

function checkSequence({ prompt, ids, ends = [] }: MeasuredSequence): void {
  if (!prompt.length)
    throw wrongInput('measure.prompt', 'A sequence to be measured has no prompt.', {
      expected: 'at least one token, since the first token of a sequence has no probability',
    });
  const bad = ends.find((end) => !Number.isInteger(end) || end < 0 || end > ids.length);
  if (bad !== undefined)
    throw wrongInput('measure.ends', `Classes are asked for after ${bad} of ${ids.length} tokens.`, {
      expected: `integers from 0 to ${ids.length}`,
    });
}

function measurementOf(
  head: HeadKind | undefined,
  { prompt, ids, ends = [ids.length] }: MeasuredSequence,
  { logprobs, entropy, heads }: TokenScores,
): Measurement {
  const before = prompt.length - 1;
  return {
    logProbabilities: logprobs.slice(before),
    entropies: entropy.slice(before),
    ...(head === 'value' ? { values: ids.map((_, t) => heads![before + t]![0]!) } : {}),
    ...(head === 'classes' ? { classes: ends.map((end) => heads![before + end]!) } : {}),
  };
}

/** All numbers of a measurement, in a fixed order. */
export const numbersOf = ({
  logProbabilities,
  entropies,
  values = [],
  classes = [],
}: Measurement): number[] => [...logProbabilities, ...entropies, ...values, ...classes.flat()];

function expectFinite({ name, version, set }: PolicyRef, measured: Measurement): void {
  const field = (['logProbabilities', 'entropies', 'values', 'classes'] as const).find(
    (one) => !(measured[one] ?? []).flat().every(Number.isFinite),
  );
  if (!field) return;
  const bad = measured[field]!.flat().find((x) => !Number.isFinite(x));
  throw new RollmeshError(
    'give-up',
    'measure.not-finite',
    `${name}@${version}${set ? ` (${set})` : ''} measures ${bad} among its ${field}.`,
    {
      expected: 'finite numbers',
      next: 'Take an earlier version: this one’s weights or its head have grown beyond float32.',
    },
  );
}
