/**
 * SWEET-RL: a critic that knows what the user wants is trained on whole talks, and says which of several replies is better at each turn.
 * `turnCredit`, the rank correlation of the critic's word with what replies gave the user, should be above 0 before accuracy, the share of users who leave content, can rise.
 */

import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { Game, Speaker } from '../../core/game/game.ts';
import type { Utterance } from '../../core/game/verbs.ts';
import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  TrainingPlan,
  TurnPreferencePart,
  Update,
} from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { mean, present } from '../../core/rl/statistics.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { returnOf } from '../../protocols/episode-credit.ts';
import { preferencePart, START, updateOf } from '../../protocols/objectives.ts';
import { ofFamily, smallSteps } from '../../protocols/solver.ts';
import {
  ASSISTANT,
  evaluateTalks,
  judgeTalks,
  meanReplies,
  needsOf,
  rollTalks,
  TALK_CONTROLS,
  TALK_FIGURES,
  type TalkEvidence,
  toldTalk,
} from '../../protocols/talk.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';

/** Both write nothing: the critic's weights, and version 0, of which the critic is told apart by its weights and by what it reads. */
const CRITIC = 'critic';
const BASE = 'base';

type Phase = 'critic' | 'policy';
const SCHEDULE: Schedule<Phase> = {
  cycle: [
    { phase: 'critic', rounds: 1 },
    { phase: 'policy', rounds: 1 },
  ],
};

/** β of both preference losses, the weight of the likelihood of chosen replies, and pairs of each turn. */
const BETA = 0.1;
const LIKELIHOOD = 0.01;
const PAIRS = 4;

const VARIANTS = {
  blind: 'the critic is not told what the user wants',
  sums: 'the critic’s log-ratios are summed over the tokens of a turn, not averaged',
  'trajectory-dpo': 'no critic: the policy learns by DPO on whole talks, in every round',
} as const;

type SweetGame = Game<'reply' | 'coach'>;

const phaseOf = ({ index, settings }: RoundRecords['round']): Phase =>
  settings.variant === 'trajectory-dpo' ? 'critic' : phaseAt(SCHEDULE, index).phase;

const rewards = {
  content: {
    description: 'the share of what the user wants that he is told in the talk',
    usesGold: true,
    pay: ({ user }: TalkEvidence) => mean(user().met.map(Number)),
  },
  ...TALK_CONTROLS,
} as const;

const isCandidate = ({ about }: Pick<Sample, 'about'>): boolean => about !== undefined;

/** What the user of a task wants, as a critic reads it. */
const wantedOf = (game: Pick<SweetGame, 'needsOf'>, task: string): string =>
  needsOf(game, task)
    .map(({ wants, told }) => `${wants}: ${told}`)
    .join('\n');

/** What the critic reads before a reply: the talk with what the user wants, or what the assistant reads. */
const readByCritic = (
  game: Pick<SweetGame, 'words' | 'needsOf'>,
  speaker: Speaker,
  task: string,
  said: readonly Utterance[],
  variant: string | undefined,
): string =>
  variant === 'blind'
    ? game.words.reply.ask({ task, said }, speaker)
    : game.words.coach.ask({ task, said, wanted: wantedOf(game, task) }, speaker);

/** What version 0 reads beside the critic: the same but for what the user wants. A critic that has no room for the talk is compared with one that reads none. */
export function readByBase(
  game: Pick<SweetGame, 'words' | 'needsOf'>,
  speaker: Speaker,
  task: string,
  said: readonly Utterance[],
  variant: string | undefined,
): string {
  const [read, first] = [said, []].map((talk) => readByCritic(game, speaker, task, talk, variant));
  return game.words.reply.ask({ task, said: read === first ? [] : said }, speaker);
}

/** A talk about each task, and as many replies as the group's size to each thing that is said in it; these are `about` the number of their turn. */
async function rollCandidates(
  game: SweetGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { groupSize } = context.round.settings;
  const groups = await rollTalks(game, context, tasks, undefined, 1);
  const prompts = groups.flatMap(({ group, samples }) =>
    samples.map(({ prompt }, turn) => ({
      ids: prompt,
      turn,
      sampleIds: Array.from({ length: groupSize }, (_, i) => rolloutId(group, `${ASSISTANT}/${turn}`, i)),
    })),
  );
  const completions = await context.generate(ASSISTANT, prompts);
  const candidates = prompts.map(({ ids, turn, sampleIds }, p) =>
    sampleIds.map((id, i): Sample => {
      const completion = completions[p]![i]!;
      const outcome = completion.stopped ? 'ok' : 'cut-off';
      return { ...sampleOf(context, ASSISTANT, id, ids, completion, outcome), about: String(turn) };
    }),
  );
  let next = 0;
  return groups.map((group) => ({
    ...group,
    samples: [...group.samples, ...group.samples.flatMap(() => candidates[next++]!)],
  }));
}

/** A = the mean over a reply's tokens of log π_critic − log π_0, of which the critic alone reads what the user wants; or their sum. */
export function turnAdvantage(
  critic: readonly number[],
  base: readonly number[],
  level: 'mean' | 'sum',
): number {
  const sum = critic.reduce((total, logprob, t) => total + logprob - base[t]!, 0);
  return level === 'sum' ? sum : sum / critic.length;
}

/** The candidates of a group with what the critic says of each (`turn`) and what each gave the user (`gave`), who hears it at that point of the talk. */
async function judgeCandidates(
  game: SweetGame,
  context: RoundContext,
  group: RolloutGroup,
): Promise<ScoredGroup> {
  const { variant } = context.round.settings;
  const { tokenizer, renderer } = context;
  const speaker = { renderer, decode: tokenizer.decode };
  const talk = group.samples.filter((sample) => !isCandidate(sample));
  const { before, user } = toldTalk(game, speaker, group.task, talk);
  const replies = group.samples.filter(isCandidate);
  const reading = (by: typeof readByBase) => (said: readonly Utterance[]) =>
    tokenizer.encode(by(game, context, group.task, said, variant));
  const [read, readBeside] = [reading(readByCritic), reading(readByBase)];
  const fits = replies.map(
    ({ about, ids }) =>
      ids.length > 0 && read(before[Number(about)]!).length + ids.length <= context.contextLength,
  );
  const scored = replies.filter((_, i) => fits[i]);
  const asCritic = await context.measure(
    CRITIC,
    scored.map(({ about, ids }) => ({ group: group.group, prompt: read(before[Number(about)]!), ids })),
  );
  const asBase = await context.measure(
    BASE,
    scored.map(({ about, ids }) => ({
      group: group.group,
      prompt: readBeside(before[Number(about)]!),
      ids,
    })),
  );
  const said = new Map(
    scored.map(({ id }, i) => [
      id,
      turnAdvantage(
        asCritic[i]!.logProbabilities,
        asBase[i]!.logProbabilities,
        variant === 'sums' ? 'sum' : 'mean',
      ),
    ]),
  );
  const samples = group.samples.map(
    (sample): Sample =>
      isCandidate(sample) ? { ...sample, rewards: { turn: said.get(sample.id) ?? null } } : sample,
  );
  const exact = user.met.every(Boolean);
  const answersExact = samples.map((sample) => (isCandidate(sample) ? null : exact));
  return { ...group, samples, judgments: [], answersExact, solutionsExact: answersExact };
}

/** A talk in which the user was told all, and the one of the same task in which he was told least. */
function talkPair(group: ScoredGroup): readonly [Sample[], Sample[]] | null {
  const talks = episodesOf(group.samples).flatMap((turns) => {
    const reward = returnOf(turns);
    return reward === null || turns.some(({ ids }) => ids.length === 0) ? [] : [{ turns, reward }];
  });
  const best = talks.find(({ reward }) => reward === 1);
  const worst = talks.reduce<(typeof talks)[0] | null>(
    (least, one) => (least === null || one.reward < least.reward ? one : least),
    null,
  );
  return best && worst && worst.reward < 1 ? [best.turns, worst.turns] : null;
}

/**
 * Pairs of replies [candidates] by what the critic says of them: `PAIRS` times one of the better half is preferred to one of the worse, each drawn at random. Fewer where a
 * half has fewer.
 */
export function rankedPairs<T>(
  candidates: readonly { readonly of: T; readonly said: number }[],
  random: Random,
): [T, T][] {
  const ranked = [...candidates].sort((a, b) => b.said - a.said).map(({ of }) => of);
  const half = Math.floor(ranked.length / 2);
  const [better, worse] = [
    random.shuffle(ranked.slice(0, half)),
    random.shuffle(ranked.slice(ranked.length - half)),
  ];
  return better.slice(0, PAIRS).map((chosen, i) => [chosen, worse[i]!]);
}

function learnCritic(game: SweetGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const { variant } = round.settings;
  const isPolicy = variant === 'trajectory-dpo';
  const pairs = groups.flatMap((group) => {
    const pair = talkPair(group);
    if (!pair) return [];
    const [chosen, rejected] = pair.map((turns) => {
      const { before } = toldTalk(game, tools, group.task, turns);
      return turns.map(({ prompt, ids }, t) => ({
        prompt: isPolicy ? prompt : tools.encode(readByCritic(game, tools, group.task, before[t]!, variant)),
        ids,
      }));
    });
    return [{ chosen: chosen!, rejected: rejected! }];
  });
  const part: TurnPreferencePart = {
    kind: 'turn-preference',
    role: isPolicy ? ASSISTANT : CRITIC,
    weight: 1,
    pairs,
    beta: BETA,
    level: isPolicy || variant === 'sums' ? 'sum' : 'mean',
    reference: START,
  };
  return {
    updates: updateOf([part], {}, isPolicy ? MAIN_SET : CRITIC),
    figures: { pairs: pairs.length, replies: meanReplies(groups) },
  };
}

/** How many needs a reply gives the user that he had not been told in a talk before. */
function given(
  game: SweetGame,
  tools: LearnTools,
  task: string,
  talk: readonly Sample[],
  { about, ids }: Sample,
): number {
  const turn = Number(about);
  const met = (turns: readonly Pick<Sample, 'ids'>[]) =>
    toldTalk(game, tools, task, turns).user.met.filter(Boolean).length;
  const said = talk.slice(0, turn);
  return met([...said, { ids }]) - met(said);
}

function learnPolicy(game: SweetGame, { round, groups }: RoundRecords, tools: LearnTools): TrainingPlan {
  const pairs: PreferencePair[] = [];
  const credits: number[] = [];
  for (const { group, task, samples } of groups) {
    const talk = samples.filter((sample) => !isCandidate(sample));
    for (const [turn] of talk.entries()) {
      const candidates = samples.flatMap((sample) => {
        const said = sample.about === String(turn) ? (sample.rewards.turn ?? null) : null;
        return said === null ? [] : [{ of: sample, said }];
      });
      const random = new Random(`sweet-rl/${round.id}/${group}/${turn}`);
      pairs.push(...rankedPairs(candidates, random).map(([chosen, rejected]) => ({ chosen, rejected })));
      const credit = rankCorrelation(
        candidates.map(({ said }) => said),
        candidates.map(({ of }) => given(game, tools, task, talk, of)),
      );
      credits.push(...present([credit]));
    }
  }
  const updates: Update[] = updateOf([
    {
      ...preferencePart(
        ASSISTANT,
        pairs.map(({ chosen, rejected }) => ({
          chosen: { prompt: chosen.prompt, ids: chosen.ids },
          rejected: { prompt: rejected.prompt, ids: rejected.ids },
        })),
        { kind: 'dpo', beta: BETA },
      ),
      sft: LIKELIHOOD,
    },
  ]);
  return {
    updates,
    figures: {
      pairs: pairs.length,
      ...(credits.length ? { turnCredit: mean(credits) } : {}),
    },
  };
}

const described = {
  name: 'sweet-rl',
  title: 'A critic that knows what the user wants, and says which reply is better',
  paper: arXiv('2503.15478', 'SWEET-RL: Training Multi-Turn LLM Agents on Collaborative Reasoning Tasks'),
  summary:
    'An assistant talks with a user who does not say at once what he wants. A critic, which is told what he wants, learns from pairs of whole talks what each reply is worth. At every turn of a talk several replies are drawn, the critic ranks them, and the assistant learns to prefer those of the better half.',
  method: {
    setting:
      'A user asks an arithmetic chain and wants to hear each of its totals. The start policy always writes its steps and slips the more the longer a chain is. It reads its last reply beside the chain, hands it in unchanged in half of the cases, and does not read what the user says. As a critic it reads the right totals beside the chain, in place of what was said.',
    roles:
      'The assistant replies up to eight times, and the user is a script. In rounds of the critic, several talks are held about each task. In rounds of the policy one talk is held, and at each of its turns as many replies are drawn as a group has samples. Critic and version 0 write nothing: their likelihoods of replies are measured.',
    rewards:
      'A talk earns the share of what the user wants that he was told in it. A reply is worth the mean over its tokens of its log-probability by the critic, which reads what the user wants, less that by version 0, which reads the same but for that.',
    credit:
      'A talk in which the user was told all is paired with the one of the task in which he was told least. Of the replies to a turn, four times one of the better half by the critic is paired with one of the worse, each drawn at random.',
    objective:
      'For the critic −log σ(β·(Σ A of one talk − Σ A of the other)), in which the A of a reply is the mean log-ratio of its tokens to version 0, both reading what the user wants. For the assistant DPO against version 0, and 0.01 times the negative log-likelihood of the chosen replies. β is 0.1 in both.',
    schedule:
      'Rounds come in turns: one trains the critic’s own weights by its pairs, the next the policy’s. Each goes once over its pairs.',
  },
  differences: [
    'The user is a script that looks for words, where the paper’s is a frozen model of 70 billion parameters; what he wants takes the place of a hidden solution with tests.',
    'The two stages come in turns, and talks are held by the policy as it is; the paper collects talks once, trains the critic for four passes and then the policy. As many talks are held about a task, and replies drawn at a turn, as the group has samples, where the paper has three and sixteen.',
    'The critic’s loss sums over the turns of a talk, each with the mean of its tokens, as the paper writes it; its scripts average over all tokens of a talk.',
    'All replies of the worse and of the better half are drawn without repetition, so that a turn has fewer than four pairs where a half has fewer replies.',
    'A critic with a value head in place of log-ratios, one of the paper’s ablations, is left out.',
  ],
  figures: {
    ...TALK_FIGURES,
    replies: 'Mean number of replies in a talk.',
    pairs: 'Number of pairs of talks, or of replies, that the round learned from.',
    turnCredit:
      'Rank correlation, from −1 to 1, of what the critic says of the replies to a turn with how many wants each of them meets, mean over turns whose replies differ; for the report alone.',
  },
  variants: VARIANTS,
  sets: {
    // Of the steps by rewards the paper takes a fifth (2e-7), and here larger ones ruin the start.
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 3e-5, warmup: 5 }) },
    [CRITIC]: { optimizer: smallSteps({ learningRate: 3e-4, warmup: 5 }) },
  },
  bindings: () => ({ [BASE]: { pinned: true } }),
} satisfies Described;

const written: RecipeOver<'reply' | 'coach'> = {
  needs: { verbs: ['reply', 'coach'], data: ['answer', 'users'] },
  over: (game) => {
    const measuring = (description: string) =>
      role(`${description}, and writes nothing`, 1, { speaksAs: 'solver' });
    return {
      ...ofFamily(game.family),
      ...described,
      rewards,
      roles: {
        [ASSISTANT]: role('talks with the user', game.words.reply.maxNew, {
          speaksAs: 'solver',
          // What the user says, which the small policy does not read, tells whether a reply had what he wants.
          ...(game.byExample ? { seesGold: true as const } : {}),
        }),
        [CRITIC]: {
          ...measuring('says what replies are worth, knowing what the user wants'),
          set: CRITIC,
          seesGold: true,
        },
        [BASE]: measuring('is what the critic is compared with'),
      },
      ...inPhases<Phase>(phaseOf, {
        critic: {
          propose: async (context) => game.tasks(context),
          rollOut: (context, tasks) => rollTalks(game, context, tasks),
          judge: async (context, groups) => groups.map((group) => judgeTalks(game, context, group, rewards)),
          learn: async (records, tools) => learnCritic(game, records, tools),
        },
        policy: {
          propose: async (context) => game.tasks(context),
          rollOut: (context, tasks) => rollCandidates(game, context, tasks),
          judge: async (context, groups) => {
            const scored: ScoredGroup[] = [];
            for (const group of groups) scored.push(await judgeCandidates(game, context, group));
            return scored;
          },
          learn: async (records, tools) => learnPolicy(game, records, tools),
        },
      }),
      evaluate: (context) => evaluateTalks(game, context),
    };
  },
  elsewhere: {
    method: {
      roles:
        'The assistant replies up to eight times. The user is a script: he asks the question of a row, and wants what its field `needs` lists, or the reference answer where there is none. In rounds of the critic, several talks are held about each question. In rounds of the policy one talk is held, and at each of its turns as many replies are drawn as a group has samples. Critic and version 0 write nothing: their likelihoods of replies are measured.',
    },
  },
  ownReward: 'the critic learns from talks in which the user was told all',
};

export const sweetRl = played(written, aidedSums);
