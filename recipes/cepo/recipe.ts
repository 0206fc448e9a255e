/** CEPO: tokens that a right answer makes likelier than a rejected one get more of the advantage. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, PolicyItem, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { attemptOf } from '../../protocols/privileged-teacher.ts';
import { ownContext, scoreInContexts } from '../../protocols/score-in-other-prompt.ts';
import { groupItems, solverAlone, solverUpdate, trainedSolver } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { type Decided, evidenceFigures, evidenceOf, lambdaOf, partsAt, weighted } from './evidence.ts';

const VARIANTS = {
  grpo: 'every token of an attempt has its whole advantage',
  'one-context':
    'a token counts by how much likelier it is where the right solution is told than where nothing is',
  'shuffled-answers': 'both solutions that are told belong to the next task',
} as const;

type ToldGame = Game<'solve' | 'retell'>;

/** What the two contexts of a group tell, as texts without a stop. */
interface Told {
  readonly right: string;
  readonly rejected: string;
}

/**
 * The reference solution where the checker pays, otherwise the first attempt that was paid; and the first of the attempts that were paid least. Null
 * where no attempt was rejected, or none that was rejected parses.
 */
function toldOf(
  game: ToldGame,
  group: Pick<ScoredGroup, 'task' | 'samples'>,
  tools: Pick<LearnTools, 'decode' | 'renderer'>,
  checked: boolean,
): Told | null {
  const written = (wanted: 0 | 1): string | null => {
    for (const [s, sample] of group.samples.entries()) {
      if (sample.rewards.reward !== wanted) continue;
      const solution = attemptOf(game, group, s, tools);
      if (solution.ok) return game.write(solution.value);
    }
    return null;
  };
  const right = checked ? game.write(game.reference!(group.task)) : written(1);
  const rejected = written(0);
  return right === null || rejected === null ? null : { right, rejected };
}

/** An attempt with its two contexts. */
interface Compared {
  readonly sample: Sample;
  readonly exact: boolean;
  readonly told: Told;
  /** The two prompts, as tokens. */
  readonly right: TokenIds;
  readonly rejected: TokenIds;
}

function comparedAttempts(game: ToldGame, { round, groups }: RoundRecords, tools: LearnTools): Compared[] {
  const { variant, rewardFunction } = round.settings;
  const told = groups.flatMap((group) => {
    const both = toldOf(game, group, tools, rewardFunction === 'exact');
    return both ? [{ group, both }] : [];
  });
  return told.flatMap(({ group, both }, i) => {
    const shown = variant === 'shuffled-answers' ? told[(i + 1) % told.length]!.both : both;
    const after = (solution: string) =>
      tools.encode(game.words.retell.ask({ task: group.task, solution }, tools));
    const contexts = { right: after(shown.right), rejected: after(shown.rejected) };
    return group.samples.map((sample, s) => ({
      sample,
      exact: group.answersExact[s] === true,
      told: both,
      ...contexts,
    }));
  });
}

/** Δ of the attempts [attempts][tokens], nats. */
async function evidencesOf(
  attempts: readonly Compared[],
  tools: LearnTools,
  variant: string | undefined,
): Promise<number[][]> {
  const [right, other] = await scoreInContexts(
    tools,
    attempts.map(({ sample }) => sample),
    [(_, i) => attempts[i]!.right, variant === 'one-context' ? ownContext : (_, i) => attempts[i]!.rejected],
  );
  return attempts.map((_, i) => evidenceOf(right![i]!, other![i]!));
}

async function learn(game: ToldGame, records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { round, groups } = records;
  const { variant } = round.settings;
  const attempts = variant === 'grpo' ? [] : comparedAttempts(game, records, tools);
  const evidences = await evidencesOf(attempts, tools, variant);
  const evidence = new Map(attempts.map(({ sample }, i) => [sample.id, evidences[i]!]));
  const withWeights = (item: PolicyItem): PolicyItem => {
    const deltas = evidence.get(item.sample.id);
    if (!deltas) return item;
    const { credit: _, ...others } = item;
    return { ...others, advantage: weighted(item.advantage as number, deltas, lambdaOf(round.index)) };
  };
  const decided = attempts.flatMap(({ sample, exact, told }, i): Decided[] => {
    const apartFrom = exact ? told.rejected : told.right;
    if (game.said(tools.decode(sample.ids), tools) === apartFrom) return [];
    const decisive = partsAt(sample.ids, tools.encode(apartFrom));
    return decisive === null ? [] : [{ exact, evidence: evidences[i]!, decisive }];
  });
  return {
    updates: solverUpdate(groupItems(groups, grpo).map(withWeights), ppoClip(0.28)),
    // By the oracle, for the report alone.
    figures: evidenceFigures(decided),
  };
}

const described = {
  name: 'cepo',
  title: 'Credit where a right answer and a rejected one disagree',
  paper: { title: 'CEPO: Contrastive Evidence Policy Optimization', year: 2026, source: 'arXiv:2605.19436' },
  summary:
    'The policy reads each of its attempts twice more, once after a prompt that tells a right solution and once after one that tells a rejected one. Tokens that the first makes likelier than the second get more of a right attempt’s advantage and less of a wrong one’s blame.',
  method: {
    setting:
      'A solver answers arithmetic chains. Its start policy always writes its steps and slips in one of ten at the first step, in two of ten at the second and so on. It was taught to read a solution after the task, and hands it in unchanged in half of the cases.',
    roles:
      'The solver is the only role and answers each task eight times. Nothing is sampled in the two other contexts: they tell the exact solution, and the first attempt that was not paid.',
    rewards: 'An exact answer earns 1 and any other 0.',
    credit:
      'The advantage A of an attempt is its reward minus the mean of its group, divided by the group’s deviation (GRPO). A token gets A·((1 − λ) + λ·w), where w = exp(sign(A)·Δ), cut off at 0.8 and 1.2, and Δ is the log-probability of the token after the right solution minus that after the rejected one, by the weights that the round trains from. Where no attempt was rejected, w is 1.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.28] and a mean over tokens. There is no KL term.',
    schedule:
      'λ falls by the same amount each round, from 0.5 in the first to 0 in the 26th. Each round goes once over its batch, in four optimiser steps.',
  },
  differences: [
    'Whole solutions are told; the paper tells answers alone. The start policy was taught to read drafts of solutions, and after an answer alone its evidence points the wrong way. A language model needs no more than a template.',
    'The paper trains 50 steps, and its λ is 0 after half of them; the claim’s twelve rounds end before.',
    'With a coin or the format as reward the first attempt that was paid is told in place of the exact solution, so that no gold reaches these controls.',
  ],
  figures: {
    atDecisive:
      'Mean evidence at the token that decides an attempt, nats: where an exact one parts from the rejected solution, or another from the right one. Evidence is Δ in exact attempts and −Δ in others.',
    before: 'Mean evidence at the tokens before the decisive one, nats per token.',
    behind: 'Mean evidence at the tokens behind the decisive one, nats per token.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'retell'> = {
  needs: { verbs: ['solve', 'retell'], data: ['answer', 'solution'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(game, records, tools),
  }),
  elsewhere: {
    differences: [
      'Whole solutions are told, the right one as the file has it; the paper tells answers alone. Both are told by a template, and the policy was not taught to read them.',
      'The paper trains 50 steps, and its λ is 0 after half of them.',
      'With a coin or the format as reward the first attempt that was paid is told in place of the worked solution, so that no gold reaches these controls.',
    ],
  },
  ownReward: 'which attempts are told as right and as rejected follows from their reward',
};

export const cepo = played(written, aidedSums);
