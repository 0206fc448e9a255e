/** What a round trains: first the verifier, by fine-tuning on verdicts that agree with the majority, then the solver, by that verifier’s verdicts. */
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { type Judgment, rendered } from '../../core/recipe/task-family.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { nearStart, ppoClip, sftPart, updateOf } from '../../protocols/objectives.ts';
import { groupItems, solverUpdate } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { readVerified, stepReader } from '../../protocols/step-credit.ts';
import { familyOf, type ProcessGame } from './proofs.ts';
import { selectiveAdvantage } from './rewards.ts';

export const VERIFIER_SET = 'verifier';

/** Marks with the oracle’s result on each line, for the report alone. */
interface Marked {
  readonly marks: readonly boolean[];
  readonly exact: readonly boolean[];
}

/** The mean of two shares: of right lines, and of wrong lines, that are marked correctly; null where only one kind of line occurs. */
export function lineAccuracy(marked: readonly Marked[]): number | null {
  const lines = marked.flatMap(({ marks, exact }) =>
    exact.map((follows, line) => ({ follows, hit: marks[line] === follows })),
  );
  const shares = [true, false].map((kind) => lines.filter(({ follows }) => follows === kind));
  if (shares.some(({ length }) => length === 0)) return null;
  return mean(shares.map((kind) => mean(kind.map(({ hit }) => Number(hit)))));
}

/** The verdicts of a group that parse, each with its record and the oracle’s results on the lines. */
function verdictsOf(game: ProcessGame, { task, samples, judgments }: ScoredGroup, tools: LearnTools) {
  const family = rendered(game.family, tools);
  const { decode } = tools;
  const solutions = new Map(
    samples.flatMap(({ id, ids }) => {
      const parsed = family.parseSolution(task, decode(ids));
      return parsed.ok ? [[id, parsed.value] as const] : [];
    }),
  );
  return judgments.flatMap((sample): { sample: Sample; verdict: Judgment; exact: readonly boolean[] }[] => {
    const solution = solutions.get(sample.of ?? '');
    if (!solution) return [];
    const verdict = family.parseJudgment(solution, decode(sample.ids));
    return verdict.ok
      ? [{ sample, verdict: verdict.value, exact: family.exactJudgment(task, solution).steps }]
      : [];
  });
}

/** The verifier is fine-tuned on the verdicts that were chosen. */
export function imitate(game: ProcessGame, { groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const verdicts = groups.flatMap((group) => verdictsOf(game, group, tools));
  const chosen = verdicts.filter(({ sample }) => sample.rewards.chosen === 1);
  const items = chosen.map(({ sample: { prompt, ids } }) => ({ prompt, ids }));
  const accuracyOf = (some: typeof verdicts) =>
    lineAccuracy(some.map(({ verdict: { steps }, exact }) => ({ marks: steps, exact })));
  const [labels, votes] = [accuracyOf(chosen), accuracyOf(verdicts)];
  return {
    updates: updateOf([sftPart(JUDGE, items)], {}, VERIFIER_SET),
    figures: {
      ...(labels === null ? {} : { labelAccuracy: labels }),
      ...(votes === null ? {} : { voteAccuracy: votes }),
    },
  };
}

/** The samples with their advantages; in the selective variant these depend on the line, where a verdict parses. */
function itemsOf(game: ProcessGame, { round, groups }: RoundRecords, tools: LearnTools): PolicyItem[] {
  const items = groupItems(groups, grpo);
  if (round.settings.variant !== 'selective') return items;
  const marksOf = new Map(
    readVerified(familyOf(game, round), groups, tools).map(({ sample, verdict }) => [
      sample.id,
      verdict?.ok ? verdict.value.steps : null,
    ]),
  );
  const stepsOf = stepReader(game.family, tools.encode);
  return items.map(({ sample, advantage }) => {
    const marks = marksOf.get(sample.id);
    if (!marks || typeof advantage !== 'number') return { sample, advantage };
    return { sample, advantage: selectiveAdvantage(advantage, stepsOf(sample.ids), marks) };
  });
}

/** The number of lines in solutions, where it is not bound to be that of the task. */
function lineFigures(
  { family, ungated }: ProcessGame,
  groups: readonly ScoredGroup[],
  { decode }: LearnTools,
) {
  const solutions = groups.flatMap(({ task, samples }) =>
    samples.flatMap(({ ids }) => {
      const parsed = ungated?.parseSolution(task, decode(ids));
      return parsed?.ok ? [{ lines: parsed.value.steps.length, wanted: family.difficulty(task) }] : [];
    }),
  );
  return solutions.length
    ? {
        lines: mean(solutions.map(({ lines }) => lines)),
        misshapen: mean(solutions.map(({ lines, wanted }) => Number(lines !== wanted))),
      }
    : {};
}

/** The solver is reinforced by the verifier's verdicts. */
export const reinforce = (game: ProcessGame, records: RoundRecords, tools: LearnTools): TrainingPlan => ({
  updates: solverUpdate(itemsOf(game, records, tools), { ...ppoClip(), ...nearStart(1e-3) }),
  figures: lineFigures(game, records.groups, tools),
});
