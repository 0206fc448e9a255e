/** RRPO: a pair is compared by the phrases in which it differs, and the good response is kept where it was. */

import { asking, type Game } from '../../core/game/game.ts';
import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  Sequence,
  TrainingPlan,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import { arXiv, type Described, type RecipeOver, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import type { Answered } from '../../protocols/evaluate/responder.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { preferencePart, START, updateOf } from '../../protocols/objectives.ts';
import { responderAlone } from '../../protocols/responder-alone.ts';
import { rewardNamed, SOLVER, solverAlone, trainedSolver } from '../../protocols/solver.ts';
import {
  pointsOfRound,
  RESPONDER,
  RESPONSE_FIGURES,
  rated,
  responseOf,
  sequenceOf,
} from '../../protocols/style-responder.ts';
import { parseResponse } from '../../worlds/style/family.ts';
import { damage, unformed } from '../../worlds/style/planted.ts';
import { withWordMarked } from '../../worlds/style/word-tokens.ts';
import { differing, elsewhere } from './differing.ts';
import { otherPlaces } from './other-places.ts';

const BETA = 0.5;
/** Weight of the KL, whose mean is over tokens. */
const ALPHA = 1;
const VARIANTS = {
  dpo: 'all tokens are compared, and there is no KL',
  'no-kl': 'the differing phrases are compared, and there is no KL',
  'random-spans': 'other words are compared, drawn from those that do not differ, with the KL',
} as const;

/** Stage three: 1 where a response is to be preferred to the same with an error planted (or its form broken), 0 where the damaged one is. A text that is no response makes no pair. */
const judge = (context: RoundContext, groups: readonly RolloutGroup[]): ScoredGroup[] => {
  const { rewardFunction } = context.round.settings;
  const preferred = (id: string) => {
    if (rewardFunction === 'format') return 1;
    return rewardFunction === 'random' ? Number(coinOf(id)) : sealedGold(context, 1)();
  };
  const rewards = groups.flatMap(({ samples }) =>
    samples.map(
      (sample) => [sample.id, responseOf(context, sample) === null ? null : preferred(sample.id)] as const,
    ),
  );
  return rated(groups, new Map(rewards));
};

interface RoundPair extends PreferencePair {
  /** Where the two are compared, unless all tokens are. */
  readonly spans: NonNullable<PreferencePair['spans']>;
  /** The response without the planted error, and the tokens in which it does not differ, as 1 [ids]. */
  readonly kept: Sequence;
  readonly shared: readonly number[];
}

const isDrawn = (variant: string | undefined): boolean => variant === 'random-spans';

/** The pairs of a round: each response against the same as `spoil` leaves it, compared where they differ or at words that are drawn. */
function pairsOf(
  groups: readonly ScoredGroup[],
  { decode, encode }: LearnTools,
  drawn: boolean,
  spoil: typeof damage,
): RoundPair[] {
  return groups.flatMap(({ samples }) =>
    samples.flatMap((sample): RoundPair[] => {
      const response = parseResponse(decode(sample.ids));
      const { reward } = sample.rewards;
      const pair = response.ok && typeof reward === 'number' ? spoil(response.value, sample.id) : null;
      if (!pair) return [];
      const marked = (words: readonly string[], at: number) => withWordMarked(words, at, encode);
      const [at, atDamaged] = drawn ? otherPlaces(pair, sample.id) : [pair.at, pair.at];
      const { prompt } = sample;
      const kept = marked(pair.kept, at);
      const damaged = marked(pair.damaged, atDamaged);
      const [chosen, rejected] = reward === 1 ? [kept, damaged] : [damaged, kept];
      return [
        {
          chosen: { prompt, ids: chosen.ids },
          rejected: { prompt, ids: rejected.ids },
          spans: [chosen.marks, rejected.marks],
          kept: { prompt, ids: kept.ids },
          shared: marked(pair.kept, pair.at).marks.map((mark) => 1 - mark),
        },
      ];
    }),
  );
}

/**
 * How far the policy has gone from the start, nats a token: `kl` on its own responses, an estimate of KL(policy‖start), and `kept`, the
 * log-ratio on what the good response of a pair shares with the damaged one.
 */
async function driftFigures(
  { score }: LearnTools,
  groups: readonly ScoredGroup[],
  pairs: readonly RoundPair[],
): Promise<Record<string, number>> {
  const ratios = async (sequences: readonly Sequence[]) => {
    const now = await score(MAIN_SET, sequences);
    const start = await score(MAIN_SET, sequences, 0);
    return now.map((row, i) => Array.from(row, (logprob, t) => logprob - start[i]![t]!));
  };
  const own = (await ratios(groups.flatMap(({ samples }) => samples.map(sequenceOf)))).flat();
  const kept = (await ratios(pairs.map((pair) => pair.kept))).flatMap((row, i) =>
    row.filter((_, t) => pairs[i]!.shared[t] === 1),
  );
  return { ...(own.length ? { kl: mean(own) } : {}), ...(kept.length ? { kept: mean(kept) } : {}) };
}

/** The updates of a round that has these pairs. */
function updatesOn(
  variant: string | undefined,
  role: string,
  pairs: readonly RoundPair[],
): TrainingPlan['updates'] {
  const compared = pairs.map(({ chosen, rejected, spans }) => ({
    chosen,
    rejected,
    ...(variant === 'dpo' ? {} : { spans }),
  }));
  const preference = preferencePart(role, compared, { kind: 'dpo', beta: BETA });
  const leash: UpdatePart = {
    kind: 'distillation',
    role,
    weight: ALPHA,
    items: pairs.map(({ chosen }) => chosen),
    teacher: START,
    divergence: { kind: 'forward-kl' },
  };
  const leashed = variant !== 'dpo' && variant !== 'no-kl';
  return updateOf(leashed ? [preference, leash] : [preference]);
}

async function learn({ round, groups }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { variant, rewardFunction } = round.settings;
  const pairs = pairsOf(groups, tools, isDrawn(variant), rewardFunction === 'format' ? unformed : damage);
  return {
    updates: updatesOn(variant, RESPONDER, pairs),
    figures: {
      pairs: pairs.length,
      points: pointsOfRound(groups, tools.decode),
      ...(await driftFigures(tools, groups, pairs)),
    },
  };
}

/** The role that writes answers again with an error. */
const SPOILER = 'spoiler';
type SpoiledGame = Game<'solve' | 'spoil'>;
/** The judge stage in a game: each answer that is paid 1 is written again with an error. */
async function spoil(
  game: SpoiledGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const reward = rewardNamed(exactAndControls, context.round.settings.rewardFunction);
  const paid = groups.map((group) => payAnswers(game.family, reward, context, group));
  const asked = paid.flatMap(({ task, samples }) =>
    samples.flatMap(({ id, ids, outcome, rewards }) => {
      const response = game.said(context.tokenizer.decode(ids), context);
      if (outcome !== 'ok' || rewards.reward !== 1 || response === '') return [];
      return [{ of: id, ...asking(game, context, 'spoil', { task, response }) }];
    }),
  );
  const written = (await ask(context, SPOILER, asked, 1)).flat().map(({ sample }) => sample);
  return paid.map((group) => {
    const own = new Set(group.samples.map(({ id }) => id));
    return { ...group, judgments: written.filter(({ of }) => own.has(of!)) };
  });
}

/** Each answer of a round that was written again, against what came of it, both ended as the answer was. */
const spoiledPairs = (
  { said }: SpoiledGame,
  { round: { settings }, groups }: RoundRecords,
  tools: LearnTools,
): RoundPair[] =>
  groups.flatMap(({ samples, judgments }) =>
    judgments.flatMap(({ ids, of, outcome }): RoundPair[] => {
      if (outcome !== 'ok') return [];
      const answer = samples.find(({ id }) => id === of)!;
      const { prompt } = answer;
      const again = (sampled: readonly number[]) => ({
        prompt,
        ids: [...tools.encode(said(tools.decode(sampled), tools)), ...answer.ids.slice(-1)],
      });
      const [chosen, rejected] = [again(answer.ids), again(ids)];
      const marks = differing(chosen.ids, rejected.ids);
      const spans = isDrawn(settings.variant)
        ? ([elsewhere(marks[0], of!), elsewhere(marks[1], of!)] as const)
        : marks;
      return [{ chosen, rejected, spans, kept: chosen, shared: marks[0].map((mark) => 1 - mark) }];
    }),
  );

/** Share of the responses in which a word stands twice: the error that is planted. */
export const repeating = (answered: readonly Answered[]): number | null => {
  const words = answered.flatMap(({ response }) => (response === null ? [] : [response.split(' ')]));
  return words.length ? mean(words.map((each) => Number(new Set(each).size < each.length))) : null;
};

const described = {
  name: 'rrpo',
  title: 'Preferences by the phrases that differ',
  paper: arXiv(
    '2504.12083',
    'Self-alignment of Large Video Language Models with Refined Regularized Preference Optimization',
  ),
  summary:
    'A response is compared with the same response in which an error was planted, by the tokens of the words in which the two differ and by no others. A KL to the start policy, token by token on the preferred response, keeps the rest of the distribution in place.',
  method: {
    setting:
      'A response to a string transformation picks words of a source in a wanted order and number. The start policy often writes a word twice, which costs a point of the rubric.',
    roles:
      'The responder writes two responses to each prompt. The start policy is the reference of both terms and writes nothing.',
    rewards:
      'A response without a repeated word is preferred to itself with an error planted: an earlier word in place of a later one. That is known by construction and needs no judge.',
    credit:
      'The log-ratios are summed over the tokens of the word in which the two responses differ. All other tokens carry no preference.',
    objective:
      '-log σ(β(difference of the log-ratios)) with β = 0.5, and α = 1 times KL(start‖policy), over the whole vocabulary at each token of the preferred response, as a mean over tokens.',
    schedule:
      'Each round goes once over its pairs, in four optimiser steps. The reference stays the start policy.',
  },
  differences: [
    'The paper asks about videos; the damaged response is what the model answers when frames are masked or shuffled. Here it is the response itself with a word replaced, so that where the two differ is known exactly.',
    'Pairs are made anew from the policy’s own responses each round; in the paper once.',
    'The KL is a mean over the tokens of a step, which the paper sums over a response; α is chosen for that.',
    'Both responses of a pair are well-formed. The format control has pairs of its own: a response against itself with a tag in place of a word, so that it does not parse.',
  ],
  figures: {
    ...RESPONSE_FIGURES,
    pairs: 'Number of pairs that are trained on.',
    kl: 'KL to the start policy, estimated on the policy’s own responses, nats per token.',
    kept: 'Mean log-ratio of the policy to the start on what the good response of a pair shares with the damaged one, nats per token.',
    repeats: 'Share of the sampled responses in which a word stands twice: the error that is planted.',
  },
  variants: VARIANTS,
  sets: trainedSolver({ learningRate: 2e-4, warmup: 8 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'spoil'> = {
  needs: { verbs: ['solve', 'spoil'], data: ['answer'] },
  over: (game) => {
    const alone = solverAlone(game);
    return {
      ...described,
      ...alone,
      roles: {
        ...alone.roles,
        [SPOILER]: role(
          'writes answers again with an error, with the weights of the start',
          game.words.spoil.maxNew,
        ),
      },
      bindings: () => ({ [SPOILER]: { pinned: true } }),
      judge: (context, groups) => spoil(game, context, groups),
      learn: async (records, tools) => {
        const pairs = spoiledPairs(game, records, tools);
        return {
          updates: updatesOn(records.round.settings.variant, SOLVER, pairs),
          figures: { pairs: pairs.length, ...(await driftFigures(tools, records.groups, pairs)) },
        };
      },
    };
  },
  elsewhere: {
    summary:
      'A right answer is compared with the same answer in which the start policy planted an error, by the tokens in which the two differ and by no others. A KL to the start policy, token by token on the right answer, keeps the rest of the distribution in place.',
    method: {
      roles:
        'The solver answers each question. The spoiler, with the weights of the start, writes every right answer again with one mistake in it. The start policy is the reference of both terms.',
      rewards:
        'An exact answer earns 1 and any other 0. An answer that earned 1 is preferred to what the spoiler made of it.',
      credit:
        'The log-ratios are summed over the tokens in which the two texts differ: those that are not in their longest common subsequence. All other tokens carry no preference.',
    },
    differences: [
      'The paper asks about videos; the damaged response is what the model answers when frames are masked or shuffled. Here the policy is asked for a mistake, which may be none.',
      ...described.differences.slice(1, 3),
    ],
    figures: { pairs: described.figures.pairs, kl: described.figures.kl, kept: described.figures.kept },
  },
  ownReward: 'which answers are written again with an error follows from their reward',
};

export const rrpo: WithoutSetup = {
  ...described,
  written,
  ...responderAlone({ examine: (sampled) => ({ repeats: repeating(sampled) }) }),
  rewards: {
    planted: { description: 'a response is preferred to itself with an error planted', usesGold: true },
    random: { description: 'control: a coin says which of the two is preferred', usesGold: false },
    format: {
      description: 'control: a response is preferred to itself with its form broken',
      usesGold: false,
    },
  },
  judge: async (context, groups) => judge(context, groups),
  learn,
};
