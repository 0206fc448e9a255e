/**
 * A challenger's questions, the solver's votes on them, and the set of questions that the votes label: the stages of R-Zero's phases. The recipe
 * decides what is paid.
 */
import * as v from 'valibot';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe-state.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RoundContext } from '../../core/round-context.ts';
import { proposalId } from '../../core/sample-ids.ts';
import type { AdmittedTask, Proposals, RolloutGroup } from '../../core/schema/sample.ts';
import type { TaskFamily } from '../../core/task-family.ts';
import type { TrainingPlan } from '../../core/training-plan.ts';
import { admitTasks } from '../../protocols/drawn-tasks.ts';
import { admit, passed, proposeThrough } from '../../protocols/proposals.ts';
import { rollOut } from '../../protocols/roll-out.ts';

export const CHALLENGER = 'challenger';

/** A question, its most frequent answer among the solver's attempts, and that answer's share among all attempts; 0 where no attempt parses. */
const vote = v.object({ task: v.string(), label: v.nullable(v.string()), share: v.number() });
export type Vote = Readonly<v.InferOutput<typeof vote>>;
export const labelledSet = v.array(vote);

/** The set that the solver is trained on, which the last collection left. */
export const labelledOf = (recipeState: unknown): readonly Vote[] =>
  readState(labelledSet, recipeState) ?? [];

/** Asks the challenger for `count` questions with one prompt; each that parses and is not held out becomes a task. */
export async function challenge(
  family: TaskFamily,
  context: RoundContext,
  count: number,
): Promise<Proposals> {
  const { round } = context;
  const sampleIds = Array.from({ length: count }, (_, i) => proposalId(round.id, CHALLENGER, i));
  const proposed = await proposeThrough(
    context,
    CHALLENGER,
    [{ prompt: family.proposerPrompt(), sampleIds }],
    { parse: family.parseProposal, isHeldOut: family.isHeldOut },
  );
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, passed(proposed)),
  };
}

/** Distinct questions of the set, as many as a round has tasks; a smaller set makes a smaller round. */
export const drawLabelled = ({ round }: Pick<RoundContext, 'round'>, set: readonly Vote[]): Proposals =>
  admitTasks(
    round,
    new Random(`${round.id}/questions`)
      .shuffle(set)
      .slice(0, round.settings.tasks)
      .map(({ task }) => task),
  );

/** Samples `count` attempts at each task, whatever the round's group size is. */
export const attempt = (
  family: TaskFamily,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  count: number,
): Promise<RolloutGroup[]> => {
  const settings = { ...context.round.settings, groupSize: count };
  return rollOut({ family }, { ...context, round: { ...context.round, settings } }, tasks);
};

/** What the attempts at each question say [groups]; of equally frequent answers the first one is the label. */
export const votesOf = (
  family: TaskFamily,
  groups: readonly Pick<RolloutGroup, 'task' | 'samples'>[],
  decode: (ids: readonly number[]) => string,
): Vote[] =>
  groups.map(({ task, samples }) => {
    const most = majority(
      samples.map(({ ids, outcome }) => {
        const parsed = outcome === 'ok' ? family.parseSolution(task, decode(ids)) : null;
        return parsed?.ok ? parsed.value.answer : null;
      }),
    );
    return { task, label: most?.answer ?? null, share: most?.share ?? 0 };
  });

/** Figures of some questions, for the report; no reward reads them. `labelAccuracy` is absent where the oracle knows none of the answers. */
export function voteFigures(family: TaskFamily, votes: readonly Vote[]) {
  const known = votes.filter(({ task }) => !family.isUnlabelled?.(task));
  const right = known.map(({ task, label }) =>
    Number(label !== null && family.answerIsExact(task, { steps: [], answer: label })),
  );
  return {
    agreement: mean(votes.map(({ share }) => share)),
    difficulty: mean(votes.map(({ task }) => family.difficulty(task))),
    ...(known.length || !votes.length ? { labelAccuracy: mean(right) } : {}),
  };
}

/** The plan of a round that collects: nothing is trained, and the labelled questions that `keeps` admits become the set of the coming rounds. */
export function collection(
  family: TaskFamily,
  votes: readonly Vote[],
  keeps: (vote: Vote) => boolean,
): TrainingPlan {
  const kept = votes.filter((vote) => vote.label !== null && keeps(vote));
  const figures = voteFigures(family, votes);
  return {
    updates: [],
    recipeState: [...new Map(kept.map((vote) => [vote.task, vote])).values()],
    figures: {
      ...figures,
      kept: kept.length / votes.length,
      ...('labelAccuracy' in figures ? { keptAccuracy: voteFigures(family, kept).labelAccuracy ?? 0 } : {}),
    },
  };
}
