/**
 * Self-rewarding language models: one policy responds and judges. Each round it answers fresh prompts four times, gives each response
 * the mean of three scores on an additive rubric of five points, and learns by DPO from its best against its worst; the next round's
 * judge is the policy that this one made. Judge data is in the warm start alone.
 */
import { Random } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import { bestAgainstWorst } from '../core/rl/preference-pairs.ts';
import { drawnTasks } from '../core/roles/drawn-tasks.ts';
import { sealedGold } from '../core/roles/gold.ts';
import {
  type Judged,
  pointsOfRound,
  RESPONDER,
  RESPONSE_TOKENS,
  rated,
  readable,
  respond,
  STYLE_POINTS,
  sequenceOf,
} from '../core/roles/respond.ts';
import { DIGIT_TOKENS, STYLE_JUDGE, scoreResponses } from '../core/roles/score-responses.ts';
import type { Stage } from '../core/roles/stage.ts';
import {
  answers,
  examined,
  heldOutStyle,
  judgeCorrelation,
  pointsAtLengths,
} from '../core/roles/style-exam.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { RolledGroup, ScoredGroup } from '../core/schema/sample.ts';
import { randomStyleTask, styleScore } from '../core/tasks/style.ts';
import { STOP } from '../core/tasks/worked.ts';
import { selfRewardingClaim } from './claims/self-rewarding.ts';

const VOTES = 3;
/** The variant that imitates the best response and makes no pairs. */
const POSITIVE_ONLY = 'positive-only';

/** Points as a share of all; missing stays missing. */
const shareOf = (points: number | null) => (points === null ? null : points / STYLE_POINTS);

/** Stage three: what each response is worth, by the run's kind of reward. A text that is no response is worth nothing. */
async function judge(stage: Stage, groups: readonly RolledGroup[]): Promise<ScoredGroup[]> {
  const { reward } = stage.round.settings;
  const asked = readable(stage, groups);
  const scorings = await scoreResponses(stage, reward === 'judge' ? asked : [], VOTES);
  const worthOf = ({ id, task, response }: Judged, i: number): number | null => {
    if (reward === 'judge') return shareOf(scorings[i]!.score);
    if (reward === 'random') return new Random(`coin/${id}`).float();
    return sealedGold(stage, shareOf(styleScore(task, response)))();
  };
  const worth = new Map(asked.map((item, i) => [item.id, worthOf(item, i)]));
  return rated(
    groups,
    worth,
    scorings.flatMap(({ judgments }) => judgments),
  );
}

/** Best against worst of each group by reward; equal rewards make no pair. */
export const pairsOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair
      ? [{ chosen: sequenceOf(samples[pair.chosen]!), rejected: sequenceOf(samples[pair.rejected]!) }]
      : [];
  });

export const selfRewarding: Recipe = {
  name: 'self-rewarding',
  title: 'Self-rewarding language models',
  paper: { title: 'Self-Rewarding Language Models', year: 2024, source: 'arXiv:2401.10020' },
  summary:
    'One policy answers string transformations and scores the answers from 0 to 5, three times each. Best against worst make DPO pairs against the version that wrote them. The version that comes out responds and judges in the next round.',
  differences: [
    'Prompts are drawn by a generator of tasks; in the paper a fixed few-shot model writes them.',
    'The start is the supervised model of the paper’s first iteration: responses and scores are demonstrated, most responses too short, and a fifth of the scores by a judge who only counts words.',
    'The judge writes a digit without a rationale.',
    'A round is an iteration; the checkpoint is its last, not the one that an outside judge likes best.',
  ],
  claim: selfRewardingClaim,
  start: 'terse',
  taskName: 'style',
  stop: STOP,
  tasks: 512,
  group: 4,
  rewards: {
    judge: { says: 'mean of three scores that the policy itself gives', usesGold: false },
    gold: { says: 'the rubric’s points', usesGold: true },
    random: { says: 'control: a random number', usesGold: false },
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
    [RESPONDER]: { says: 'responds', sampling: { maxNew: RESPONSE_TOKENS, temperature: 0.7, topP: 0.9 } },
    [STYLE_JUDGE]: { says: 'scores a response', sampling: { maxNew: DIGIT_TOKENS, temperature: 0.7 } },
  },
  freezable: [STYLE_JUDGE],
  propose: async (stage) => drawnTasks(stage, (random) => randomStyleTask(random)),
  rollOut: respond,
  judge,
  learn: ({ round, groups, version }, { decode }) => {
    const pairs = pairsOf(groups);
    const part = { role: RESPONDER, weight: 1 };
    const reference = { set: MAIN_SET, version };
    const lesson =
      round.settings.variant === POSITIVE_ONLY
        ? ({ ...part, kind: 'imitation', items: pairs.map(({ chosen }) => chosen) } as const)
        : ({ ...part, kind: 'preference', pairs, objective: { kind: 'dpo', beta: 0.1 }, reference } as const);
    return {
      updates: [{ set: MAIN_SET, parts: [lesson], epochs: 2 }],
      figures: { pairs: pairs.length, points: pointsOfRound(groups, decode) },
    };
  },
  evaluate: async (exam) => {
    const tasks = heldOutStyle();
    const start = await exam.once('start', () => answers(exam.start, tasks, 'sampled'));
    const sampled = await answers(exam, tasks, 'sampled');
    return examined(await answers(exam, tasks, 'greedy', 0), sampled, {
      sampledAtStartLengths: pointsAtLengths(sampled, start) / STYLE_POINTS,
      judge: await judgeCorrelation(exam, start, VOTES),
      judgeOfOwn: await judgeCorrelation(exam, sampled, VOTES),
    });
  },
};
