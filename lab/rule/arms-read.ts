/** Which arms a condition measures: a measure is a function, so it is run on made-up runs that note which arms it asks for. */
import { type ArmResults, type Claim, type Condition, EVALUATE_EVERY, type Run } from './claim.ts';

/** Figures of any name, all of one value. */
const figuresOf = (value: number): Record<string, number> =>
  new Proxy<Record<string, number>>({}, { get: () => value });

/** A run that measured everything. `valueAt` gives all of its figures, by the share of the run that has passed. */
function madeUp(rounds: number, every: number, valueAt: (passed: number) => number): Run {
  const heldout = Array.from({ length: Math.floor(rounds / every) + 1 }, (_, i) => {
    const value = valueAt((i * every) / rounds);
    const accuracies = { accuracy: value, sampled: value, worked: value, forcedWorked: value };
    return { round: i * every, task: '', n: 1, ...accuracies, figures: figuresOf(value) };
  });
  const monitors = Array.from({ length: rounds }, (_, i) => ({
    round: i + 1,
    figures: figuresOf(valueAt((i + 1) / rounds)),
  }));
  return { recipe: '', seed: 0, rounds, heldout, monitors, tokens: { generated: 0, trained: 0 }, wallMs: 0 };
}

/** The names of the arms that a condition's measure asks for, in runs whose figures rise and in runs whose figures fall. */
export function armsRead(
  { measure }: Pick<Condition, 'measure'>,
  { rounds, evaluateEvery = EVALUATE_EVERY }: Pick<Claim, 'rounds' | 'evaluateEvery'>,
): readonly string[] {
  const asked = new Set<string>();
  for (const valueAt of [(passed: number) => passed, (passed: number) => 1 - passed]) {
    const run = madeUp(rounds, evaluateEvery, valueAt);
    const results: ArmResults = new Proxy<Record<string, readonly Run[]>>(
      {},
      {
        get(_, arm) {
          asked.add(String(arm));
          return [run];
        },
      },
    );
    try {
      measure(results, 0);
    } catch {
      // It needs something that made-up runs lack. The arms that it asked for until then are known.
    }
  }
  return [...asked];
}
