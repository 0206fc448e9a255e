/** A policy that looks at a map part by part: its episodes, and its answers to held-out tasks. */
import { episodesOf, playEpisodes } from '../core/episodes/play-episodes.ts';
import type { SamplingSettings } from '../core/policy/policy.ts';
import { deriveId, Random } from '../core/random.ts';
import type { EvaluationContext, RoundContext } from '../core/recipe/round-context.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../core/schema/evaluation.ts';
import type { Outcome } from '../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../core/schema/sample.ts';
import { tallyOf } from '../core/statistics/change.ts';
import {
  type Look,
  lookReply,
  mapPrompt,
  maps,
  otherMap,
  PARTS,
  readFirst,
  readMap,
  readNext,
  rightnessOf,
  sightOf,
  thingsIn,
} from '../worlds/canvas/maps.ts';
import type { Scene } from '../worlds/canvas/scene.ts';
import { BLIND } from './evaluate/other-pictures.ts';
import { SOLVER } from './solver.ts';

/** How often it looks at most; then it has to answer. */
export const MOST_LOOKS = PARTS.length;

export interface Looking {
  /** Parts that it looked at and has said something of, in this order. */
  readonly looks: readonly Look[];
  /** The part that it is shown now; null before the first look, and at the end. */
  readonly at: number | null;
  readonly answer: string | null;
  readonly isOver: boolean;
}

export const BEGUN: Looking = { looks: [], at: null, answer: null, isOver: false };

/** The episode after a turn, and the turn's outcome. A look after the last one ends it without an answer. */
export function lookedOn(
  before: Looking,
  text: string,
): { readonly now: Looking; readonly outcome: Outcome } {
  const over = { ...before, at: null, isOver: true };
  const read = before.at === null ? readFirst(text) : readNext(text);
  if (!read.ok) return { now: over, outcome: read.reason };
  const [seen, act] = 'seen' in read.value ? [read.value.seen, read.value.act] : [null, read.value];
  const looks = seen === null ? before.looks : [...before.looks, { part: before.at!, seen }];
  if ('answer' in act) return { now: { ...over, looks, answer: act.answer }, outcome: 'ok' };
  if (looks.length >= MOST_LOOKS) return { now: { ...over, looks }, outcome: 'ok' };
  return { now: { ...before, looks, at: act.look }, outcome: 'ok' };
}

interface Asked {
  readonly id: string;
  readonly task: string;
  readonly shown: Scene;
}

/** Episodes, each of which is shown a map [episodes][turns]. */
export async function playLooks(
  context: RoundContext,
  asked: readonly Asked[],
  sampling: Partial<SamplingSettings> = {},
): Promise<(readonly Sample[])[]> {
  const played = await playEpisodes(
    context,
    SOLVER,
    asked.map(({ id, task, shown }) => ({
      id,
      prompt: mapPrompt(task, shown),
      world: { shown, looking: BEGUN },
    })),
    {
      maxTurns: MOST_LOOKS + 1,
      sampling,
      answer: ({ shown, looking }, text) => {
        const { now, outcome } = lookedOn(looking, text);
        return {
          world: { shown, looking: now },
          reply: now.at === null ? null : lookReply(shown, now.at),
          outcome,
        };
      },
    },
  );
  return played.map(({ turns }) => turns);
}

/** The map that a group is shown: another one for the control. */
export const shownIn = (
  { round: { settings } }: Pick<RoundContext, 'round'>,
  { group, task }: Pick<AdmittedTask, 'group' | 'task'>,
): Scene =>
  settings.variant === BLIND ? otherMap(new Random(`maps/other/${group}`), task) : readMap(task)!.scene;

/** `round.settings.groupSize` episodes of each task; a group's samples are the turns of all of them. */
export async function rollLooks(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const { groupSize } = settings;
  const played = await playLooks(
    context,
    tasks.flatMap(({ group, task }) => {
      const shown = shownIn(context, { group, task });
      return Array.from({ length: groupSize }, (_, i) => ({ id: rolloutId(group, SOLVER, i), task, shown }));
    }),
  );
  return tasks.map((task, t) => ({
    round,
    ...task,
    samples: played.slice(t * groupSize, (t + 1) * groupSize).flat(),
  }));
}

/** An episode as its record tells it. */
export interface ToldLooking extends Looking {
  readonly turns: readonly Sample[];
}

/** An episode told again from its texts. A text that was cut off is no answer. */
export function toldLooking(
  turns: readonly Sample[],
  { decode }: { readonly decode: (ids: readonly number[]) => string },
): ToldLooking {
  const told = turns.reduce((now, { ids }) => lookedOn(now, decode(ids)).now, BEGUN);
  return { ...told, turns, answer: turns.at(-1)!.outcome === 'ok' ? told.answer : null };
}

export const toldLookings = (
  { samples }: Pick<RolloutGroup, 'samples'>,
  tools: Parameters<typeof toldLooking>[1],
): ToldLooking[] => episodesOf(samples).map((turns) => toldLooking(turns, tools));

/** By the oracle: does a part hold what was said of it? */
export function isSeen(task: string, { part, seen }: Look): boolean {
  const { scene, ...asked } = readMap(task)!;
  return seen === sightOf(asked, thingsIn(scene, part));
}

/** What the figures of `lookFigures` mean. */
export const LOOK_FIGURES = {
  looks: 'Mean number of looks in an episode.',
  parts: 'Mean number of different parts that an episode looks at; 4 at most.',
  answered: 'Share of the episodes that end with an answer.',
  sights: 'Share of what was said of parts that is exactly what they hold.',
} as const;

/** How episodes looked, by the oracle. `tasks`: that of each episode. */
export function lookFigures(told: readonly Looking[], tasks: readonly string[]): Record<string, number> {
  if (!told.length) return {};
  const sights = told.flatMap(({ looks }, e) => looks.map((look) => Number(isSeen(tasks[e]!, look))));
  return {
    looks: mean(told.map(({ looks }) => looks.length)),
    parts: mean(told.map(({ looks }) => new Set(looks.map(({ part }) => part)).size)),
    answered: mean(told.map(({ answer }) => Number(answer !== null))),
    ...(sights.length ? { sights: mean(sights) } : {}),
  };
}

/** The same of an evaluation, under names of their own. */
export const HELD_OUT_LOOKS = {
  heldOut:
    'Looks, different parts, answers and exact sights of greedy episodes about held-out maps, and the mean rightness of their answers, 0 to 1.',
  otherPictures:
    'Share of exact greedy answers to held-out questions where another map is shown in place of the one that is asked about.',
} as const;

/** Answers to held-out tasks of one kind: greedy and sampled, and greedy where another map is shown. */
export async function evaluateLooker(
  context: EvaluationContext,
  tasks: readonly string[],
  more: Readonly<Record<string, number>> = {},
): Promise<Evaluation> {
  const looked = await lookAtHeldOut(context, tasks, 0);
  const sampled = await lookAtHeldOut(context, tasks, 1);
  const blind = await lookAtHeldOut(context, tasks, 0, true);
  const exact = (told: readonly Looking[]) =>
    told.map(({ answer }, t) => answer !== null && maps.answerIsExact(tasks[t]!, { steps: [], answer }));
  const figures = Object.entries({ ...lookFigures(looked, tasks), rightness: meanRightness(looked, tasks) });
  return evaluation(
    {
      n: tasks.length,
      accuracy: mean(exact(looked).map(Number)),
      sampled: mean(exact(sampled).map(Number)),
      formatRate: mean(looked.map(({ answer }) => Number(answer !== null))),
      tallies: { accuracy: tallyOf(exact(looked)), sampled: tallyOf(exact(sampled)) },
    },
    {
      ...Object.fromEntries(figures.map(([name, value]) => [`heldOut.${name}`, value])),
      otherPictures: mean(exact(blind).map(Number)),
      ...more,
    },
  );
}

/** Episodes about held-out tasks, one each. */
export async function lookAtHeldOut(
  context: EvaluationContext,
  tasks: readonly string[],
  temperature: number,
  blind = false,
): Promise<ToldLooking[]> {
  const asked = tasks.map((task) => ({
    id: deriveId('evaluate', 'looks', String(temperature), String(blind), task),
    task,
    shown: blind ? otherMap(new Random(`maps/other/${task}`), task) : readMap(task)!.scene,
  }));
  const played = await playLooks(context, asked, { temperature });
  return played.map((turns) => toldLooking(turns, context.tokenizer));
}

/** Mean rightness of answers, 0 where there is none. */
export const meanRightness = (told: readonly Looking[], tasks: readonly string[]): number =>
  mean(told.map(({ answer }, t) => (answer === null ? 0 : rightnessOf(tasks[t]!, answer))));
