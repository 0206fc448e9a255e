/** One reference vector and the shapes its fields come in. */
import * as v from 'valibot';

export const numbers = v.array(v.number());
/** "nan" stands for NaN, which JSON lacks. */
export const numbersOrNan = v.array(
  v.union([
    v.number(),
    v.pipe(
      v.literal('nan'),
      v.transform(() => Number.NaN),
    ),
  ]),
);
export const rows = v.array(numbers);

export const vectorFile = v.object({
  vectors: v.array(
    v.object({ id: v.string(), source: v.string(), input: v.unknown(), expected: v.unknown() }),
  ),
});
export type Vector = v.InferOutput<typeof vectorFile>['vectors'][number];

/** Checks the vectors whose id it names: throws where our answer differs. */
export interface Case {
  readonly ids: RegExp;
  readonly check: (vector: Vector) => void;
}

/** A case whose input and expected answer have these schemas. */
export const vectorCase = <I extends v.GenericSchema, E extends v.GenericSchema>(
  ids: RegExp,
  input: I,
  expected: E,
  check: (input: v.InferOutput<I>, expected: v.InferOutput<E>, id: string) => void,
): Case => ({
  ids,
  check: (vector) => check(v.parse(input, vector.input), v.parse(expected, vector.expected), vector.id),
});

/** Packed layout of padded rows: values and the row index of each. */
export const pack = (padded: readonly (readonly number[])[]) => ({
  flat: padded.flat(),
  sequence: padded.flatMap((row, i) => row.map(() => i)),
});

/** [[a, b], [c]] -> [a, b, c] with the group of each. */
export const grouped = (groups: readonly (readonly number[])[]) => ({
  rewards: groups.flat(),
  keys: groups.flatMap((group, i) => group.map(() => i)),
});

/** Throws where an advantage is missing. */
export const there = (values: readonly (number | null)[]): number[] =>
  values.map((value, i) => {
    if (value === null) throw new Error(`value ${i} is missing`);
    return value;
  });
