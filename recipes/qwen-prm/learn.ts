/** What a round trains: the classifier of steps. Beforehand, the classifier is tested on the round’s solutions. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { prefixOf } from '../../protocols/continue-prefixes.ts';
import { bestOf } from '../../protocols/evaluate/best-of-n.ts';
import { updateOf } from '../../protocols/objectives.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { labelBy } from './labels.ts';
import { PRM_SET, RIGHT } from './whole-answers.ts';

/** A solution that parses, with its labels and the oracle’s result. */
interface Labelled {
  readonly group: number;
  readonly task: string;
  readonly solution: Solution;
  /** The first wrong line from 1; 0 where there is none. `label` is null where the solution is not kept. */
  readonly label: number | null;
  readonly monteCarlo: number | null;
  readonly judged: number | null;
  /** For reports alone. */
  readonly exact: number;
  readonly answerExact: boolean;
}

const labelled = (
  groups: readonly ScoredGroup[],
  variant: string | undefined,
  decode: LearnTools['decode'],
): Labelled[] =>
  groups.flatMap(({ task, samples }, group) =>
    samples.flatMap(({ ids, rewards }) => {
      const parsed = plainProofs.parseSolution(task, decode(ids));
      if (!parsed.ok) return [];
      const solution = parsed.value;
      const { monteCarlo = null, judged = null } = rewards;
      return [
        {
          group,
          task,
          solution,
          label: labelBy(variant, rewards),
          monteCarlo,
          judged,
          exact: plainProofs.exactJudgment(task, solution).steps.indexOf(false) + 1,
          answerExact: plainProofs.answerIsExact(task, solution),
        },
      ];
    }),
  );

/** The task and the solution up to line `count`, this line included, as the classifier reads them. */
const read = ({ task, solution }: Labelled, count: number, encode: LearnTools['encode']) => ({
  prompt: encode(plainProofs.solverPrompt(task)),
  ids: encode(prefixOf(solution, count)),
});

/** Every line up to the first error, with its class. */
const examples = (items: readonly Labelled[], encode: LearnTools['encode']) =>
  items.flatMap((item) => {
    const { label, solution } = item;
    if (label === null) return [];
    return Array.from({ length: label === 0 ? solution.steps.length : label }, (_, i) => ({
      ...read(item, i + 1, encode),
      label: i + 1 === label ? 1 - RIGHT : RIGHT,
    }));
  });

/** The first line whose probability of being right is below one half, from 1; 0 where there is none. */
export const firstDoubted = (rights: readonly number[]): number =>
  rights.findIndex((right) => right < 0.5) + 1;

/** ProcessBench’s F1: the harmonic mean of how often the first error is found, and of how often none is in what is right. */
export function firstErrorF1(
  found: readonly { readonly found: number | null; readonly exact: number }[],
): number {
  const hits = (wrong: boolean) => {
    const of = found.filter(({ exact }) => exact > 0 === wrong);
    return of.length ? mean(of.map((item) => Number(item.found === item.exact))) : 0;
  };
  const [wrong, right] = [hits(true), hits(false)];
  return wrong + right === 0 ? 0 : (2 * wrong * right) / (wrong + right);
}

export async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const items = labelled(groups, round.settings.variant, tools.decode);
  const taught = examples(items, tools.encode);
  const updates = updateOf([{ kind: 'classification', role: PRM_SET, weight: 1, items: taught }]);
  if (items.length === 0) return { updates };
  const asked = items.flatMap((item) => item.solution.steps.map((_, i) => read(item, i + 1, tools.encode)));
  const rights = (await tools.classes(MAIN_SET, asked)).map((row) => Math.exp(row[RIGHT]!));
  const scored = items.map((item) => ({ ...item, rights: rights.splice(0, item.solution.steps.length) }));
  const found = scored.map(({ exact, rights }) => ({ exact, found: firstDoubted(rights) }));
  const lucky = scored.filter(({ exact, answerExact }) => exact > 0 && answerExact);
  const byGroup = groups.map((_, g) => scored.filter(({ group }) => group === g));
  const share = (values: readonly boolean[]) => mean(values.map(Number));
  return {
    updates,
    figures: {
      firstErrorF1: firstErrorF1(found),
      monteCarloF1: firstErrorF1(items.map(({ exact, monteCarlo }) => ({ exact, found: monteCarlo }))),
      judgeF1: firstErrorF1(items.map(({ exact, judged }) => ({ exact, found: judged }))),
      kept: share(items.map(({ label }) => label !== null)),
      bestOfGroup: bestOf(
        byGroup.map((all) => ({ exact: all.map(({ answerExact }) => answerExact) })),
        byGroup.map((all) => all.map(({ rights }) => rights.reduce((product, right) => product * right, 1))),
      ),
      oneOfGroup: share(items.map(({ answerExact }) => answerExact)),
      ...(lucky.length
        ? { luckyFound: share(lucky.map(({ exact, rights }) => firstDoubted(rights) === exact)) }
        : {}),
    },
  };
}
