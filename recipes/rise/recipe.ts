/** RISE: one policy solves, and grades a few of its own fresh solutions in the same PPO batch. */
import type { LearnTools, RoundRecords, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { gae, klShapedRewards } from '../../core/rl/estimators/index.ts';
import { whiten } from '../../core/rl/statistics.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { policyPart, SOLVER } from '../../protocols/solver.ts';
import { JUDGE, OPTIMIZER, solverAndVerifier } from '../../protocols/solver-verifier.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { slippingTask } from '../../worlds/arithmetic/step-slips.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';

/** The same rule pays solutions and verdicts. */
export const grade = ({ outcome }: Pick<Sample, 'outcome'>, hit: number): number =>
  outcome === 'ok' ? (hit ? 1 : -0.5) : -1;

/** What a solution earned, or how a verdict agrees with the label; null = missing. */
const hitOf = ({ rewards: { reward, agreement } }: Sample): number | null => reward ?? agreement ?? null;

async function learn({ groups }: RoundRecords, { score, values }: LearnTools): Promise<TrainingPlan> {
  const rated = groups
    .flatMap((group) => [...group.samples, ...group.judgments])
    .flatMap((sample) => {
      const hit = hitOf(sample);
      return hit === null ? [] : [{ sample, score: grade(sample, hit) }];
    });
  const samples = rated.map(({ sample }) => sample);
  const start = await score('main', samples, 0);
  const worth = await values('critic', samples);
  const credit = samples.map(({ logprobs }, i) => {
    const mask = logprobs.map(() => 1);
    const kl = logprobs.map((logprob, t) => logprob - start[i]![t]!);
    const rewards = klShapedRewards({ reward: rated[i]!.score, mask, kl }, 0.01);
    return gae({ rewards, values: worth[i]! }, { gamma: 1, lambda: 1 });
  });
  const advantages = whiten(credit.flatMap((tokens) => tokens.advantages));
  const items = credit.map(({ returns }, i) => {
    const advantage = advantages.splice(0, returns.length);
    return { sample: samples[i]!, advantage, targets: returns };
  });
  const of = (role: string) => items.filter(({ sample }) => sample.role === role);
  const policy = (role: string): UpdatePart => policyPart(role, of(role), ppoClip());
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

const described = {
  name: 'rise',
  title: 'Solving and verifying one’s own solutions in one PPO batch',
  paper: arXiv(
    '2505.13445',
    'Trust, But Verify: A Self-Verification Approach to Reinforcement Learning with Verifiable Rewards',
  ),
  summary:
    'One policy solves tasks and gives a verdict on some of its own solutions of the same round. Solutions are paid by an exact checker, verdicts for saying what the checker said. Both are trained by PPO with a critic in one batch.',
  method: {
    setting:
      'A solver answers arithmetic chains and verifies some of its own fresh solutions in the same round. An exact checker is at hand in training.',
    roles:
      'The solver answers each task eight times. The judge, which has the same weights, gives a verdict on four of them, on every step and on the whole; solutions that do not parse are not shown to it.',
    rewards:
      'Both roles follow one rule. A solution earns 1 if it is exact, -0.5 if it is well-formed but not exact, and -1 if it does not parse; a verdict earns the same by whether it says what the checker said.',
    credit:
      'The reward stands on the last token, and every token pays 0.01 times its log-ratio to version 0. Generalised advantage estimation with λ = γ = 1 turns that into advantages by a critic with weights of its own; they are whitened over both roles’ tokens together.',
    objective:
      'PPO: a clipped policy gradient with ratios in [0.8, 1.2] and a mean over each role’s tokens; the critic regresses the returns.',
    schedule:
      'Each round updates first the critic and then the policy, with solutions and verdicts in one batch.',
  },
  differences: [
    'Solutions that do not parse are not shown to the verifier: its grammar has marks for steps and nothing for what has none.',
    'The loss is a mean over each role’s tokens; in one mean over all, the few short verdicts would hardly count.',
    'Half of the solutions are verified, where the paper’s script has 128 of 8192: a round here is small.',
  ],
  figures: { ...VERIFIER_FIGURES },
  sets: { main: { optimizer: OPTIMIZER }, critic: { optimizer: OPTIMIZER, head: { kind: 'value' } } },
  learn,
} satisfies Described;

const written: RecipeOver<'solve' | 'verify'> = {
  needs: { verbs: ['solve', 'verify'], data: ['answer'] },
  over: ({ family, tasks }) => ({
    ...described,
    ...solverAndVerifier({
      family,
      tasks,
      shape: ({ settings: { groupSize, freeze } }) => ({
        solutions: groupSize,
        shown: freeze.includes(JUDGE) ? 0 : 4,
        votes: 1,
      }),
      answers: 8,
    }),
  }),
  ownReward: 'the word that pays its solver is what its verifier has to say',
};

const slippingSums = familyGame(arithmetic, { tasks: (context) => drawnTasks(context, slippingTask) });

export const rise = played(written, slippingSums);
