/**
 * RISE: one policy solves, and grades a few of its own fresh solutions in the same PPO batch.
 *
 *   solution  1 exact, -0.5 well-formed but not exact, -1 unreadable
 *   verdict   1 where it says what the solution scored, -0.5 where it does not, -1 unreadable
 *   credit    reward on the last token, -0.01 KL(policy to version 0) on every token; GAE with a critic of its own weights, λ = γ = 1; whitened over both roles
 */
import type { Recipe } from '../core/recipe.ts';
import { gae } from '../core/rl/gae.ts';
import { klShapedRewards } from '../core/rl/reinforce-plus-plus.ts';
import { whiten } from '../core/rl/statistics.ts';
import { SOLVER } from '../core/roles/solver-recipe.ts';
import { JUDGE, OPTIMIZER, solverAndVerifier } from '../core/roles/solver-verifier.ts';
import type { Sample } from '../core/schema/sample.ts';
import { arithmetic } from '../core/tasks/arithmetic.ts';
import { carelessTask } from '../core/tasks/careless.ts';
import type { LearnTools, Lesson, RoundRecords, UpdatePart } from '../core/training.ts';
import { riseClaim } from './claims/rise.ts';

/** One rule for solutions and verdicts. */
export const grade = ({ outcome }: Pick<Sample, 'outcome'>, hit: number | null | undefined): number =>
  outcome === 'ok' ? (hit ? 1 : -0.5) : -1;

async function learn({ groups }: RoundRecords, { score, values }: LearnTools): Promise<Lesson> {
  const samples = groups.flatMap((group) => [...group.samples, ...group.judgments]);
  const scores = samples.map((sample) => grade(sample, sample.rewards.reward ?? sample.rewards.agreement));
  const start = await score('main', samples, 0);
  const worth = await values('critic', samples);
  const credit = samples.map(({ logprobs }, i) => {
    const mask = logprobs.map(() => 1);
    const kl = logprobs.map((logprob, t) => logprob - start[i]![t]!);
    const rewards = klShapedRewards({ reward: scores[i]!, mask, kl }, 0.01);
    return gae({ rewards, values: worth[i]! }, { gamma: 1, lambda: 1 });
  });
  const advantages = whiten(credit.flatMap((tokens) => tokens.advantages));
  const items = credit.map(({ returns }, i) => {
    const advantage = advantages.splice(0, returns.length);
    return { sample: samples[i]!, advantage, targets: returns };
  });
  const of = (role: string) => items.filter(({ sample }) => sample.role === role);
  const policy = (role: string): UpdatePart => ({
    kind: 'policy',
    role,
    weight: 1,
    items: of(role),
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'token-mean' },
  });
  const value = (role: string): UpdatePart => ({
    kind: 'value',
    role,
    weight: 1,
    items: of(role).map(({ sample, targets }) => ({ ...sample, targets })),
  });
  return {
    updates: [
      { set: 'critic', parts: [value(SOLVER), value(JUDGE)] },
      { set: 'main', parts: [policy(SOLVER), policy(JUDGE)] },
    ],
  };
}

export const rise: Recipe = {
  name: 'rise',
  title: 'Solving and verifying one’s own solutions in one PPO batch',
  paper: {
    title:
      'Trust, But Verify: A Self-Verification Approach to Reinforcement Learning with Verifiable Rewards',
    year: 2025,
    source: 'arXiv:2505.13445',
  },
  summary:
    'One policy solves tasks and gives a verdict on some of its own solutions of the same round. Solutions are paid by an exact checker, verdicts for saying what the checker said. Both are trained by PPO with a critic in one batch.',
  differences: [
    'Unreadable solutions are not shown to the verifier: its grammar has marks for steps and nothing for what has none.',
    'The loss is a mean over each role’s tokens; in one mean over all, the few short verdicts would hardly count.',
    'Half of the solutions are verified, where the paper’s script has 128 of 8192: a round here is small.',
  ],
  claim: riseClaim,
  start: 'careless',
  tasks: 32,
  group: 8,
  variants: {},
  sets: {
    main: { optimizer: OPTIMIZER },
    critic: { optimizer: OPTIMIZER, head: { kind: 'value' } },
  },
  learn,
  ...solverAndVerifier({
    family: arithmetic,
    task: carelessTask,
    shape: ({ settings: { group, freeze } }) => ({
      solutions: group,
      shown: freeze.includes(JUDGE) ? 0 : 4,
      votes: 1,
    }),
    answers: 8,
  }),
};
