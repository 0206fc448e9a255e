/** Self-rewarding language models: one policy responds, judges and learns by DPO from its best against its worst. The method is told below, as data. */
import { deriveId, Random } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import { bestAgainstWorst } from '../core/rl/preference-pairs.ts';
import { mean } from '../core/rl/statistics.ts';
import { answersOf, compareAnswers, contestOf, isExact, sharesWon } from '../core/roles/compare-answers.ts';
import { examineComparisons } from '../core/roles/comparison-exam.ts';
import { drawnTasks } from '../core/roles/drawn-tasks.ts';
import { sealedGold } from '../core/roles/gold.ts';
import { RESPONDER, rated, sequenceOf } from '../core/roles/respond.ts';
import { solve } from '../core/roles/solve.ts';
import { examineSolver } from '../core/roles/solver-exam.ts';
import type { Exam, Stage } from '../core/roles/stage.ts';
import { evaluation } from '../core/schema/evaluation.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { RolledGroup, ScoredGroup } from '../core/schema/sample.ts';
import { arithmetic } from '../core/tasks/arithmetic.ts';
import { freshTask } from '../core/tasks/demonstrations.ts';
import { selfRewardingClaim } from './claims/self-rewarding.ts';

const JUDGE = 'judge';
const TEMPERATURE = 0.7;
/** The variant that imitates the best response and makes no pairs. */
const POSITIVE_ONLY = 'positive-only';

/** Stage three: what each response is worth, by the run's kind of reward. A text that is no response is worth nothing. */
async function judge(stage: Stage, groups: readonly RolledGroup[]): Promise<ScoredGroup[]> {
  const { reward } = stage.round.settings;
  const given = groups.map((group) => answersOf(stage, group));
  const contests = groups.map(({ task }, g) => contestOf(task, given[g]!));
  const matches = await compareAnswers(stage, JUDGE, reward === 'judge' ? contests : []);
  const worth = new Map<string, number | null>();
  groups.forEach(({ task, samples }, g) => {
    const { answers } = contests[g]!;
    const shares = reward === 'judge' ? sharesWon(answers.length, matches[g]!) : [];
    samples.forEach(({ id }, i) => {
      const answer = given[g]![i]!.answer;
      if (answer === null) return;
      if (reward === 'judge') worth.set(id, shares[answers.findIndex((other) => other.answer === answer)]!);
      else if (reward === 'format') worth.set(id, 1);
      else if (reward === 'random') worth.set(id, new Random(`coin/${id}`).float());
      else worth.set(id, sealedGold(stage, Number(isExact(task, answer)))());
    });
  });
  const judgments = matches.flatMap((played) => played.map(({ judgment }) => judgment));
  return rated(groups, worth, judgments).map((group, g) => {
    const exact = given[g]!.map(({ answer }) => (answer === null ? null : isExact(group.task, answer)));
    return { ...group, gold: exact, truth: exact };
  });
}

/** Best against worst of each group by reward; equal rewards make no pair. */
export const pairsOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair
      ? [{ chosen: sequenceOf(samples[pair.chosen]!), rejected: sequenceOf(samples[pair.rejected]!) }]
      : [];
  });

/** Mean tokens of a response to a held-out task. */
async function lengthOf({ generate, tokenizer, examTasks }: Exam): Promise<number> {
  const prompts = arithmetic.heldOut(examTasks).map((task) => ({
    ids: tokenizer.encode(arithmetic.solverPrompt(task)),
    sampleIds: [deriveId('evaluate', 'length', task)],
  }));
  return mean((await generate(RESPONDER, prompts)).flat().map(({ ids }) => ids.length));
}

export const selfRewarding: Recipe = {
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
      'The score of an answer is the share of its comparisons that it wins: 0.5 where it has no rival, 0 where it cannot be read.',
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
  claim: selfRewardingClaim,
  start: 'judging',
  taskName: arithmetic.name,
  stop: arithmetic.stop,
  tasks: 512,
  group: 4,
  rewards: {
    judge: { says: 'share of comparisons won, as the policy itself judges', usesGold: false },
    gold: { says: '1 for an exact answer', usesGold: true },
    random: { says: 'control: a random number for every readable answer', usesGold: false },
    format: { says: 'control: every readable answer is as good', usesGold: false },
  },
  variants: { [POSITIVE_ONLY]: 'likelihood of the best response instead of pairs' },
  sets: {
    [MAIN_SET]: {
      optimizer: {
        learningRate: 3e-5,
        warmup: 5,
        betas: [0.9, 0.95],
        weightDecay: 0.01,
        clipNorm: 1,
        minibatches: 16,
      },
    },
  },
  roles: {
    [RESPONDER]: {
      says: 'answers, with or without steps',
      speaksAs: 'solver',
      sampling: { maxNew: 26, temperature: TEMPERATURE, topP: 0.9 },
    },
    [JUDGE]: {
      says: 'compares two answers, after a check or at a glance',
      sampling: { maxNew: 30, temperature: TEMPERATURE },
    },
  },
  freezable: [JUDGE],
  propose: async (stage) => drawnTasks(stage, (random) => freshTask(random, 2 + random.int(4))),
  rollOut: (stage, tasks) => solve({ family: arithmetic }, stage, tasks, RESPONDER),
  judge,
  learn: ({ round, groups }) => {
    const pairs = pairsOf(groups);
    const part = { role: RESPONDER, weight: 1 };
    const reference = { set: MAIN_SET, version: round.roles[RESPONDER]!.version };
    const lesson =
      round.settings.variant === POSITIVE_ONLY
        ? ({ ...part, kind: 'imitation', items: pairs.map(({ chosen }) => chosen) } as const)
        : ({ ...part, kind: 'preference', pairs, objective: { kind: 'dpo', beta: 0.1 }, reference } as const);
    return {
      updates: pairs.length ? [{ set: MAIN_SET, parts: [lesson], epochs: 2 }] : [],
      figures: { pairs: pairs.length },
    };
  },
  evaluate: async (exam) =>
    evaluation(await examineSolver(exam, { family: arithmetic, role: RESPONDER, temperature: TEMPERATURE }), {
      ...(await examineComparisons(exam, { responder: RESPONDER, judge: JUDGE })),
      length: await lengthOf(exam),
    }),
  describe: {
    difficulty: arithmetic.difficulty,
    worked: (text) => text.startsWith(arithmetic.workedPrefix),
  },
};
