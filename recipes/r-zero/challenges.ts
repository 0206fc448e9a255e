/**
 * A challenger's questions, what a solver's votes say of them, and a set of questions that the votes label: the stages that R-Zero's
 * phases are made of. What is paid is the recipe's.
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

/** A question, the answer that most of the solver's attempts gave, and that answer's share among all attempts; shares of nothing are 0. */
const vote = v.object({ task: v.string(), label: v.nullable(v.string()), share: v.number() });
export type Vote = Readonly<v.InferOutput<typeof vote>>;
export const labelledSet = v.array(vote);

/** The set that a solver trains on: what the last collection left. */
export const labelledOf = (recipeState: unknown): readonly Vote[] =>
  readState(labelledSet, recipeState) ?? [];

/** One prompt for all: `count` questions by the challenger; each that can be read and is not held out becomes a task. */
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

/** Questions of the set, as many as a round has tasks; none twice: a set with fewer questions makes a smaller round. */
export const drawLabelled = ({ round }: Pick<RoundContext, 'round'>, set: readonly Vote[]): Proposals =>
  admitTasks(
    round,
    new Random(`${round.id}/questions`)
      .shuffle(set)
      .slice(0, round.settings.tasks)
      .map(({ task }) => task),
  );

/** Attempts at tasks: `count` each, whatever the round's group size is. */
export const attempt = (
  family: TaskFamily,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  count: number,
): Promise<RolloutGroup[]> => {
  const settings = { ...context.round.settings, groupSize: count };
  return rollOut({ family }, { ...context, round: { ...context.round, settings } }, tasks);
};

/** What the attempts at each question say [groups]; the first of equally frequent answers is the label. */
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

/** What a report says of some questions: nothing here reaches a reward. `labelAccuracy` is absent where the oracle knows none of them. */
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

/** What a round teaches that collects: nobody is trained; labelled questions that `keeps` admits are the set of the rounds to come. */
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
