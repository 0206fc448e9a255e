/** self-taught-evaluators: a judge teaches itself to compare, on pairs whose better answer is known by construction. */
import type { Choice } from '../../core/game/verbs.ts';
import type { TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { readTags } from '../../core/recipe/reading.ts';
import { type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { positionsByKey } from '../../core/rl/groups.ts';
import { balancedPick } from '../../core/rl/selection/index.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { rewriterRole } from '../../protocols/rewrites.ts';
import { ofFamily, trainedSolver } from '../../protocols/solver.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { comparisonParts, pairChecks, pairWords } from '../../worlds/arithmetic/pairwise.ts';
import { varied } from '../../worlds/arithmetic/questions.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';
import { comparePairs, type PairEvidence, varying, WRITER, writePairs } from './constructed-pairs.ts';
import { evaluatePairs } from './evaluate.ts';

const JUDGE = 'judge';
const EPOCHS = 2;
const SAMPLING = { temperature: 0.7, topP: 0.9 };

/** Whether a comparison counts as right. `label` is that of the construction; null where it is not known. */
export function agreement(
  rewardFunction: string,
  parsed: ParseResult<Choice>,
  { label, betterAnswer, coin }: PairEvidence,
): number | null {
  if (!parsed.ok) return 0;
  if (rewardFunction === 'format') return 1;
  const wanted =
    rewardFunction === 'gold' ? betterAnswer() : rewardFunction === 'random' ? (coin ? 'A' : 'B') : label;
  return wanted === null ? null : Number(parsed.value === wanted);
}

/** For each pair and order one judgment that agrees with the label, and of these as many A as B. `read`: what a judgment chooses. */
export function keep(
  groups: readonly ScoredGroup[],
  read: (judgment: Sample, task: string) => ParseResult<Choice>,
  seed: string,
): Sample[] {
  const random = new Random(seed);
  const kept = groups.flatMap(({ judgments, task }) => {
    const agreeing = judgments.filter(({ rewards }) => rewards.agreement === 1);
    return [...positionsByKey(agreeing.map(({ about }) => about!)).values()].flatMap((positions) => {
      const sample = agreeing[random.pick(positions)]!;
      const parsed = read(sample, task);
      return parsed.ok ? [{ sample, choice: parsed.value }] : [];
    });
  });
  const choices = kept.map(({ choice }) => choice);
  const fewest = Math.min(...(['A', 'B'] as const).map((side) => choices.filter((c) => c === side).length));
  return balancedPick(choices, 2 * fewest, random).map((i) => kept[i]!.sample);
}

const described = {
  name: 'self-taught-evaluators',
  title: 'A judge of pairs that learns from its own judgments of constructed pairs',
  paper: { title: 'Self-Taught Evaluators', year: 2024, source: 'arXiv:2408.02666' },
  summary:
    'A frozen writer answers a task and a task that differs in one character, so that which answer is better is known without asking anyone. The judge checks and compares both in both orders, and is fine-tuned on its judgments that agree.',
  method: {
    setting:
      'A judge of pairs teaches itself without any human preference. For a task x and a task x’ that differs from it in one character, an answer to x’ is the worse answer to x by construction.',
    roles:
      'The writer, fixed at version 0, answers both tasks. The judge compares the two answers in both orders, four times each, after writing its own totals.',
    rewards: 'A judgment counts as right where it agrees with the construction. No oracle is asked.',
    credit:
      'Of the judgments that agree one is kept for each pair and order, and of those as many that say A as say B.',
    objective:
      'The negative log-likelihood of the kept judgments (rejection sampling and supervised fine-tuning).',
    schedule:
      'A round is an iteration: 120 tasks, two passes over what is kept. The next round samples from the judge that this one made.',
  },
  differences: [
    'Four judgments an order where the paper samples 15; one of those that agree is kept.',
    'The judge sees the answers without their steps, and writes its own totals before the verdict.',
    'The modified task is made by rule, not by a prompted model, and the writer is version 0 of the same small policy.',
    'Each iteration goes on from the last judge; whether the paper’s restarts from the seed weights could not be verified.',
  ],
  figures: {
    bias: 'Distance of the share of verdicts for the first answer from that for the second, greedy; 0 = the position makes no difference.',
    sampledBias: 'The same distance where verdicts are sampled.',
    consistency: 'Share of the held-out pairs for which both orders lead to the same answer.',
    checked: 'Share of the sampled verdicts that write a check first.',
    kept: 'Number of judgments that agree with their label and are trained on.',
  },
  rewards: {
    construction: {
      description: 'judgments that agree with how the pair was made are kept',
      usesGold: false,
    },
    gold: { description: 'judgments that agree with the oracle are kept', usesGold: true },
    random: { description: 'control: judgments that agree with a coin are kept', usesGold: false },
    format: { description: 'control: every well-formed judgment is kept', usesGold: false },
  },
  sets: trainedSolver({ learningRate: 1.5e-4, warmup: 5, weightDecay: 0, minibatches: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'compare'> = {
  needs: { verbs: ['solve', 'compare'], orRule: ['vary'], data: ['answer'] },
  over: (game) => {
    const { family, words, tasks } = game;
    const varier = rewriterRole(varying(game));
    const fixed = [WRITER, ...Object.keys(varier)];
    return {
      ...ofFamily(family),
      ...described,
      roles: {
        [WRITER]: role('answers both tasks, frozen', words.solve.maxNew, {
          speaksAs: 'solver',
          shown: 'its task, changed',
        }),
        [JUDGE]: role('writes a check and a verdict, A or B', words.compare.maxNew, { sampling: SAMPLING }),
        ...varier,
      },
      bindings: () => Object.fromEntries(fixed.map((role) => [role, { pinned: true }])),
      propose: async (context) => tasks(context),
      rollOut: (context, admitted) => writePairs(game, context, admitted),
      judge: (context, groups) => {
        const { rewardFunction } = context.round.settings;
        return comparePairs(game, context, JUDGE, groups, (parsed, evidence) =>
          agreement(rewardFunction, parsed, evidence),
        );
      },
      learn: ({ round, groups }, tools): TrainingPlan => {
        // What is compared does not say how a verdict is read.
        const read = ({ ids }: Sample, task: string) =>
          words.compare.read(tools.decode(ids), { task, first: '', second: '' }, tools);
        const items = keep(groups, read, `${round.id}/keep`).map(({ prompt, ids }) => ({ prompt, ids }));
        return {
          // Where no judgment agrees with its label there is nothing to train on.
          updates: updateOf([sftPart(JUDGE, items)], { epochs: EPOCHS }),
          figures: { kept: items.length },
        };
      },
      evaluate: (context) =>
        evaluatePairs(game, context, { judge: JUDGE, temperature: SAMPLING.temperature }),
    };
  },
  elsewhere: {
    summary:
      'A frozen writer answers a task and another one that it wrote itself about the same subject, so that which answer is better to the first is known without asking anyone. The judge compares both in both orders, and is fine-tuned on its judgments that agree.',
    differences: [
      described.differences[0]!,
      'Another question about the same may by chance have the same answer. Where the two answers read alike they make no pair.',
      described.differences[3]!,
    ],
  },
  ownReward: 'a judgment is right where it agrees with how its pair was made',
  ownOrder: 'its judge is trained, and not the answers to its tasks',
};

const compared = familyGame(arithmetic, {
  words: pairWords,
  maxNew: 26,
  write: ({ answer }) => answer,
  byRule: { vary: (task, group) => varied(new Random(`${group}/varied`), task) },
  tasks: (context, count) => drawnTasks(context, (random) => freshTask(random, 2 + random.int(4)), count),
});

export const selfTaughtEvaluators = played(written, compared, {
  evaluate: (context) =>
    evaluatePairs(compared, context, { judge: JUDGE, temperature: SAMPLING.temperature, checks: pairChecks }),
  describe: {
    difficulty: arithmetic.difficulty,
    parts: (role, text) => (role === JUDGE ? comparisonParts : readTags)(text),
  },
});
