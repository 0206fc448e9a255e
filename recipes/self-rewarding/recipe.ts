/** Self-rewarding language models: one policy responds, judges and learns by DPO from its best against its worst. */
import { deriveId, Random } from '../../core/random.ts';
import { readTags } from '../../core/recipe/reading.ts';
import type { Described, RecipeOver, WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { sealedGold } from '../../protocols/gold.ts';
import { gradedSolver, UNGRADED } from '../../protocols/graded-answers.ts';
import { preferencePart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { describedBy, trainedSolver } from '../../protocols/solver.ts';
import { RESPONDER, rated } from '../../protocols/style-responder.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { comparisonParts } from '../../worlds/arithmetic/pairwise.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { pairsOf, planPairs } from './best-and-worst.ts';
import { answersOf, compareAnswers, contestOf, isExact, sharesWon } from './compare-answers.ts';
import { evaluateComparisons } from './evaluate.ts';

const JUDGE = 'judge';
const TEMPERATURE = 0.7;
/** The variant that fine-tunes on the best response, without pairs. */
const POSITIVE_ONLY = 'positive-only';

/** The judge stage: the score of each response, by the run's reward function. A text that is no response scores 0. */
async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  const given = groups.map((group) => answersOf(context, group));
  const contests = groups.map(({ task }, g) => contestOf(task, given[g]!));
  const matches = await compareAnswers(context, JUDGE, rewardFunction === 'judge' ? contests : []);
  const worth = new Map<string, number | null>();
  groups.forEach(({ task, samples }, g) => {
    const { answers } = contests[g]!;
    const shares = rewardFunction === 'judge' ? sharesWon(answers.length, matches[g]!) : [];
    samples.forEach(({ id }, i) => {
      const answer = given[g]![i]!.answer;
      if (answer === null) return;
      if (rewardFunction === 'judge')
        worth.set(id, shares[answers.findIndex((other) => other.answer === answer)]!);
      else if (rewardFunction === 'format') worth.set(id, 1);
      else if (rewardFunction === 'random') worth.set(id, new Random(`coin/${id}`).float());
      else worth.set(id, sealedGold(context, Number(isExact(task, answer)))());
    });
  });
  const judgments = matches.flatMap((played) => played.map(({ judgment }) => judgment));
  return rated(groups, worth, judgments).map((group, g) => {
    const exact = given[g]!.map(({ answer }) => (answer === null ? null : isExact(group.task, answer)));
    return { ...group, answersExact: exact, solutionsExact: exact };
  });
}

/** Mean tokens of a response to a held-out task. */
async function lengthOf({ generate, tokenizer, evaluationTasks }: EvaluationContext): Promise<number> {
  const prompts = arithmetic.heldOut(evaluationTasks).map((task) => ({
    ids: tokenizer.encode(arithmetic.solverPrompt(task)),
    sampleIds: [deriveId('evaluate', 'length', task)],
  }));
  return mean((await generate(RESPONDER, prompts)).flat().map(({ ids }) => ids.length));
}

const described = {
  name: 'self-rewarding',
  title: 'Self-rewarding language models',
  paper: { title: 'Self-Rewarding Language Models', year: 2024, source: 'arXiv:2401.10020' },
  summary:
    'One policy answers arithmetic tasks and judges the answers, after a check of its own or at a glance. Best against worst make DPO pairs against the version that wrote them. The version that comes out responds and judges in the next round.',
  method: {
    setting:
      'One policy answers fresh arithmetic prompts and judges the answers itself. It was shown how to judge in its warm start alone: what may improve the judge is that it reasons as the responder does.',
    roles:
      'The responder answers each prompt four times at temperature 0.7. The judge, with the same weights, compares the distinct answers of a prompt two by two and in both orders, after a written check or at a glance.',
    rewards:
      'The score of an answer is the share of its comparisons that it wins: 0.5 where it has no rival, 0 where it does not parse.',
    credit: 'The best and the worst answer to a prompt make a pair; equal scores make none.',
    objective:
      'DPO on these pairs with β = 0.1, against the version that wrote the answers. The variant imitates the best answers instead.',
    schedule:
      'A round is an iteration: 512 prompts, two passes over their pairs. The next round’s responder and judge are the policy that this one made.',
  },
  differences: [
    'The judge compares the answers to a prompt with one another, each two in both orders; in the paper it gives each one points out of five, three times. Equal answers count as one.',
    'The judge sees an answer without its steps; it may write running totals of its own before its verdict, as the paper’s judge writes a justification.',
    'Prompts are drawn by a generator of tasks; in the paper a fixed few-shot model writes them.',
    'A round is an iteration of two passes at a constant 3e-5, where the paper’s rate falls from 1e-6; the checkpoint is its last, not the one that an outside judge likes best.',
  ],
  figures: {
    judge:
      'Rank correlation (Spearman) of the judge’s scores with exactness, on answers of version 0; −1 to 1.',
    pairs:
      'In an evaluation the share of right verdicts on a right and a wrong answer, in a round the number of pairs that are trained on.',
    checks: 'Share of the comparisons that write a check before their verdict.',
    length: 'Mean number of tokens in an answer to a held-out task.',
    ungraded: UNGRADED,
  },
  sets: trainedSolver({ learningRate: 3e-5, warmup: 5, minibatches: 16 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'rate'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'rate'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...gradedSolver(game, { votes: 1, temperature: TEMPERATURE }),
    learn: planPairs,
  }),
  elsewhere: {
    tasks: 32,
    differences: [
      'The judge grades each answer once, where the paper takes the mean of three grades; a grade that does not parse is missing, and its answer is in no pair.',
      'Questions come from files, where the paper has a fixed few-shot model write them.',
      'The policy is not fine-tuned to judge beforehand: how well it grades is how well the checkpoint does.',
    ],
  },
  ownReward: 'the points that the policy gives itself are the reward',
};

/** Sums, whose small policy was taught to compare answers and not to grade them. */
export const selfRewarding: WithoutSetup = {
  ...described,
  written,
  taskName: 'arithmetic',
  stop: arithmetic.stop,
  rewards: {
    judge: { description: 'share of comparisons won, as the policy itself judges', usesGold: false },
    gold: { description: '1 for an exact answer', usesGold: true },
    random: { description: 'control: a random number for every well-formed answer', usesGold: false },
    format: { description: 'control: every well-formed answer is as good', usesGold: false },
  },
  variants: { [POSITIVE_ONLY]: 'likelihood of the best response instead of pairs' },
  roles: {
    [RESPONDER]: role('answers, with or without steps', 26, {
      speaksAs: 'solver',
      sampling: { temperature: TEMPERATURE, topP: 0.9 },
    }),
    [JUDGE]: role('compares two answers, after a check or at a glance', 30, {
      sampling: { temperature: TEMPERATURE },
    }),
  },
  freezable: [JUDGE],
  propose: async (context) => drawnTasks(context, (random) => freshTask(random, 2 + random.int(4))),
  rollOut: (context, tasks) => rollOut({ family: arithmetic }, context, tasks, RESPONDER),
  judge,
  learn: ({ round, groups }) => {
    const pairs = pairsOf(groups);
    const reference = { set: MAIN_SET, version: round.roles[RESPONDER]!.version };
    const plan =
      round.settings.variant === POSITIVE_ONLY
        ? sftPart(
            RESPONDER,
            pairs.map(({ chosen }) => chosen),
          )
        : preferencePart(RESPONDER, pairs, { kind: 'dpo', beta: 0.1 }, reference);
    return { updates: updateOf([plan], { epochs: 2 }), figures: { pairs: pairs.length } };
  },
  evaluate: async (context) =>
    evaluation(
      await evaluateSolver(context, { family: arithmetic, role: RESPONDER, temperature: TEMPERATURE }),
      {
        ...(await evaluateComparisons(context, { responder: RESPONDER, judge: JUDGE })),
        length: await lengthOf(context),
      },
    ),
  describe: {
    ...describedBy(arithmetic),
    parts: (role, text) => (role === JUDGE ? comparisonParts : readTags)(text),
  },
};
