/**
 * Debates: agents answer a task, and in later turns answer it again, or say what is right and what is wrong, after they have read what was said before.
 * Each text is a sample of its own, after the prompt that its agent was shown.
 */
import { type Asked, asking, type Game, type Wordings } from '../core/game/game.ts';
import type { Remark } from '../core/game/verbs.ts';
import { deriveId } from '../core/random.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import { rendered, type TaskFamily } from '../core/recipe/task-family.ts';
import { majority } from '../core/rl/rewards/index.ts';
import { mean } from '../core/rl/statistics.ts';
import type { Maybe } from '../core/rl/types.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { type AnswerReward, payAnswers } from './answer-rewards.ts';
import { evaluateSolver } from './evaluate/solver.ts';
import { within } from './evaluate/within-context.ts';
import { samplePrompts } from './sample-prompts.ts';
import { rewardOf, smallSteps } from './solver.ts';
import { parseGroup } from './verify.ts';

/** Who speaks in a turn, and whether he answers or says what is right and what is wrong in the answer before. */
export interface Seat {
  readonly role: string;
  readonly reviews?: true;
}

/** The turns of a debate in their order, with those who speak in each, at the same time. */
export type Turns = readonly (readonly Seat[])[];

/** The agent beside the first one, and the set of its weights. */
export const PARTNER = 'partner';

/** Both agents are trained, each with weights of its own. */
export const TWO_AGENTS = {
  [MAIN_SET]: { optimizer: smallSteps({ warmup: 10 }) },
  [PARTNER]: { optimizer: smallSteps({ warmup: 10 }) },
};

type DebateGame = Game<'solve' | 'debate'>;

/** How many held-out tasks are debated in an evaluation. */
const EXAMINED = 100;

/** What was said in some debates, [debates][turns][seats]. `samples`: in the order in which they were said. */
export function debatesIn<T extends Pick<Sample, 'episode' | 'turn'>>(samples: readonly T[]): T[][][] {
  const debates: T[][][] = [];
  for (const sample of samples) {
    const { episode = 0, turn = 0 } = sample;
    debates[episode] ??= [];
    debates[episode][turn] ??= [];
    debates[episode][turn].push(sample);
  }
  // A debate of which all samples are missing leaves no hole.
  return debates.flatMap((turns) => (turns ? [turns.filter(Boolean)] : []));
}

/**
 * `debates` debates of each task, by default as many as a group has rollouts; a group's samples are in the order in which they were said. `turnsOf`
 * says who speaks, by the group and the number of the debate. Whoever answers is shown the last answers, his own first, and what was said of them since.
 */
export async function debate(
  game: DebateGame & { readonly words: Partial<Wordings<'review'>> },
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  turnsOf: (group: string, debate: number) => Turns,
  debates = context.round.settings.groupSize,
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const places = tasks.flatMap(({ group, task }) =>
    Array.from({ length: debates }, (_, episode) => ({
      group,
      task,
      episode,
      turns: turnsOf(group, episode),
      /** What was said, turn by turn. */
      said: [] as Said[][],
    })),
  );
  const length = Math.max(0, ...places.map(({ turns }) => turns.length));
  for (let turn = 0; turn < length; turn++) {
    const speaking = places.flatMap((place) =>
      (place.turns[turn] ?? []).map((seat, s) => ({
        place,
        seat,
        s,
        prompt: promptFor(game, context, place, seat),
      })),
    );
    for (const { place } of speaking) place.said[turn] = [];
    for (const role of new Set(speaking.map(({ seat }) => seat.role))) {
      const own = speaking.filter(({ seat }) => seat.role === role);
      const samples = await samplePrompts(
        context,
        role,
        alike(
          own.map(({ place: { group, episode }, prompt }) => ({
            ...prompt,
            sampleIds: [rolloutId(group, role, episode * length + turn)],
          })),
        ),
      );
      for (const [i, sample] of samples.flat().entries()) {
        const { place, seat, s } = own[i]!;
        const text = game.said(tokenizer.decode(sample.ids), context);
        place.said[turn]![s] = { sample: { ...sample, turn, episode: place.episode }, seat, text };
      }
    }
  }
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: places
      .slice(t * debates, (t + 1) * debates)
      .flatMap(({ said }) => said.flat().map(({ sample }) => sample)),
  }));
}

interface Said {
  readonly sample: Sample;
  readonly seat: Seat;
  readonly text: string;
}

/** What a seat is asked after what was said before. */
function promptFor(
  game: Parameters<typeof debate>[0],
  context: RoundContext,
  { task, said }: { readonly task: string; readonly said: readonly (readonly Said[])[] },
  { role, reviews }: Seat,
): Asked<unknown> {
  const last = said.findLastIndex((turn) => turn.some(({ seat }) => !seat.reviews));
  if (last < 0) return asking(game, context, 'solve', { task });
  const answers = said[last]!.filter(({ seat }) => !seat.reviews);
  if (reviews)
    return asking(game as Game<'review'>, context, 'review', { task, attempt: answers.at(-1)!.text });
  const [own, others] = [true, false].map((isOwn) =>
    answers.filter(({ seat }) => (seat.role === role) === isOwn),
  ) as [Said[], Said[]];
  const by =
    (by: Remark['by']) =>
    ({ text }: Said): Remark => ({ by, text });
  const reviewsSince = said.slice(last).flatMap((turn) => turn.filter(({ seat }) => seat.reviews));
  const remarks = [...own.map(by('self')), ...others.map(by('other')), ...reviewsSince.map(by('critic'))];
  return asking(game, context, 'debate', { task, remarks });
}

/** Neighbours with the same prompt as one prompt, which is computed once. */
function alike<T extends { readonly prompt: string; readonly sampleIds: readonly string[] }>(
  asked: readonly T[],
): T[] {
  const merged: T[] = [];
  for (const one of asked) {
    const last = merged.at(-1);
    if (last?.prompt === one.prompt)
      merged[merged.length - 1] = { ...last, sampleIds: [...last.sampleIds, ...one.sampleIds] };
    else merged.push(one);
  }
  return merged;
}

/** What the run's reward function says of a text; null where it is missing, and of a review. */
export interface Scored {
  readonly score: Maybe;
  readonly reviews: boolean;
}

/**
 * A group with what each text of its debates is paid. `pay` makes rewards [turns][seats] of scores [turns][seats], which stay beside them as `score`;
 * null is missing. `reviewers`: the roles whose texts answer nothing.
 */
export function payDebates(
  family: TaskFamily,
  reward: AnswerReward,
  context: RoundContext,
  group: RolloutGroup,
  pay: (debate: readonly (readonly Scored[])[]) => readonly (readonly Maybe[])[],
  reviewers: readonly string[] = [],
): ScoredGroup {
  const answers = group.samples.filter(({ role }) => !reviewers.includes(role));
  const paid = payAnswers(family, reward, context, { ...group, samples: answers });
  const at = new Map(paid.samples.map(({ id }, i) => [id, i]));
  const scoreOf = ({ id }: Sample): Scored => {
    const i = at.get(id);
    return { score: i === undefined ? null : rewardOf(paid.samples[i]!), reviews: i === undefined };
  };
  const rewards = new Map<string, Maybe>();
  for (const said of debatesIn(group.samples)) {
    const debate = said.map((turn) => turn.map(scoreOf));
    const paidFor = pay(debate);
    for (const [t, turn] of said.entries())
      for (const [s, { id }] of turn.entries()) rewards.set(id, paidFor[t]![s]!);
  }
  const oracle = <T>(of: readonly (T | null)[]) =>
    group.samples.map(({ id }) => (at.has(id) ? of[at.get(id)!]! : null));
  return {
    ...group,
    samples: group.samples.map((sample) => {
      const { score, reviews } = scoreOf(sample);
      return { ...sample, rewards: { reward: rewards.get(sample.id)!, ...(reviews ? {} : { score }) } };
    }),
    judgments: [],
    answersExact: oracle(paid.answersExact),
    solutionsExact: oracle(paid.solutionsExact),
  };
}

/** What the figures of `evaluateDebates` mean. */
export const DEBATE_FIGURES = {
  firstTurn:
    'Share of exact answers in the first turn of debates of held-out tasks, one sampled debate each.',
  lastTurn: 'Share of exact answers in the last turn of these debates.',
  alone:
    'Share of the same tasks at which the answer that the first agent gives most often, asked alone as many times as a debate has answers, is exact.',
} as const;

/**
 * Debates of held-out tasks, one each: how those answer who speak first, and those who speak last. Beside them a vote among answers of the first agent
 * alone, as many as a debate has.
 */
async function debateFigures(
  game: Parameters<typeof debate>[0],
  context: EvaluationContext,
  role: string,
  turns: Turns,
): Promise<Record<keyof typeof DEBATE_FIGURES, number>> {
  const tasks = game.tests(context.evaluationTasks).slice(0, EXAMINED);
  const stage = within(context);
  const asked = tasks.map((task, index) => ({
    group: deriveId('evaluate', 'debate', task),
    index,
    task,
    proposal: null,
  }));
  const groups = await debate(game, stage, asked, () => turns, 1);
  const family = rendered(game.family, context);
  const [first, last] = [0, turns.length - 1].map((turn) =>
    groups.flatMap((group) => {
      const solutions = parseGroup(game.family, context, group);
      return group.samples.flatMap((sample, i) => {
        const solution = solutions[i]!;
        return sample.turn === turn
          ? [Number(solution.ok && family.answerIsExact(group.task, solution.value))]
          : [];
      });
    }),
  );
  const answers = turns.flat().filter(({ reviews }) => !reviews).length;
  const alone = await samplePrompts(
    stage,
    role,
    asked.map(({ group, task }) => ({
      ...asking(game, stage, 'solve', { task }),
      sampleIds: Array.from({ length: answers }, (_, i) => rolloutId(group, 'alone', i)),
    })),
  );
  const votes = asked.map((task, t) => {
    const given = parseGroup(game.family, context, { round: '', ...task, samples: alone[t]! });
    const winner = majority(given.map((solution) => (solution.ok ? solution.value.answer : null)));
    return Number(winner !== null && family.answerIsExact(task.task, { steps: [], answer: winner.answer }));
  });
  return { firstTurn: mean(first!), lastTurn: mean(last!), alone: mean(votes) };
}

/** How a role answers held-out tasks alone, and how tasks are answered in debates. */
export const evaluateDebates = async (
  game: Parameters<typeof debate>[0],
  context: EvaluationContext,
  role: string,
  turns: Turns,
): Promise<Evaluation> =>
  evaluation(
    await evaluateSolver(context, {
      family: game.family,
      role,
      temperature: 1,
      tasks: game.tests(context.evaluationTasks),
    }),
    await debateFigures(game, context, role, turns),
  );
