/**
 * String transformations with a rubric of five binary points: pick words from a source, in a wanted order and number. Many responses are perfect and
 * others are good in part, which is why a judge scores them from 0 to 5.
 *
 *     task       order least-most:words      az 2-4:tok bel ana tok dim
 *     order      az | za | up | down         alphabetical, backwards, by length rising, by length falling
 *     response   <answer>ana bel tok<eos>    the loss-bearing text; any other text is a response with zero points
 *     judge      <judge>task<sep>response<sep> -> digit<eos>
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';

export const ORDERS = ['az', 'za', 'up', 'down'] as const;
export type Order = (typeof ORDERS)[number];

export interface StyleTask {
  readonly order: Order;
  /** Least and most words of the response. */
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
}

/**
 * The points of the rubric:
 *
 * - `form`: the response is words with one space between any two.
 * - `order`: it has two words or more, in the order that the task asks for.
 * - `source`: all of its words are from the task's list.
 * - `distinct`: no word comes twice.
 * - `length`: it has as many words as the task asks for.
 */
export const POINTS = ['form', 'order', 'source', 'distinct', 'length'] as const;
export type Point = (typeof POINTS)[number];
export const STYLE_POINTS = POINTS.length;
export type Points = Readonly<Record<Point, boolean>>;

export const MAX_WORDS = 10;

const TASK = /^(az|za|up|down) (\d)-(\d):([a-z]{1,8}(?: [a-z]{1,8}){0,9})$/;
const FORM = /^[a-z]{1,8}(?: [a-z]{1,8}){0,19}$/;

export const writeStyleTask = ({ order, least, most, words }: StyleTask): string =>
  `${order} ${least}-${most}:${words.join(' ')}`;

/** Reasons: off-grammar, no-perfect-response (the band cannot be met with distinct words of the source). */
export function parseStyleTask(text: string): ParseResult<StyleTask> {
  const match = TASK.exec(text);
  const order = ORDERS.find((name) => name === match?.[1]);
  if (!match || !order) return invalid('off-grammar');
  const [least, most] = [Number(match[2]), Number(match[3])];
  const words = match[4]!.split(' ');
  if (least < 2 || most < least || new Set(words).size < least) return invalid('no-perfect-response');
  return ok({ order, least, most, words });
}

/** Which of two words comes first in an order; 0 when either may. */
export const compare: Readonly<Record<Order, (a: string, b: string) => number>> = {
  az: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  za: (a, b) => (a > b ? -1 : a < b ? 1 : 0),
  up: (a, b) => a.length - b.length,
  down: (a, b) => b.length - a.length,
};

/**
 * Whether each point of the rubric is met. A response that does not parse earns no point: otherwise an empty one would count as distinct and in
 * order.
 */
export function pointsOf(task: StyleTask, response: string): Points {
  const form = FORM.test(response);
  const words = form ? response.split(' ') : [];
  const inOrder = words.every((word, i) => i === 0 || compare[task.order](words[i - 1]!, word) <= 0);
  return {
    form,
    order: words.length >= 2 && inOrder,
    source: form && words.every((word) => task.words.includes(word)),
    distinct: form && new Set(words).size === words.length,
    length: words.length >= task.least && words.length <= task.most,
  };
}

export const wordsOf = (response: string): number => response.split(' ').length;

export const scoreOf = (points: Points): number => POINTS.filter((point) => points[point]).length;

/** The exact score: 0 … 5 points of a response to a task’s text; 0 where the text is no task. */
export function styleScore(task: string, response: string): number {
  const parsed = parseStyleTask(task);
  return parsed.ok ? scoreOf(pointsOf(parsed.value, response)) : 0;
}

/** A response’s text, parsed strictly: nothing after the stop token, and no tag within. */
export function parseResponse(text: string): ParseResult<string> {
  const body = withoutStop(text);
  const match = body === null ? null : /^<answer>([^<>]{1,200})$/.exec(body);
  return match ? ok(match[1]!) : invalid('off-grammar');
}

/** A judge's digit. */
export function parseScore(text: string): ParseResult<number> {
  const match = /^([0-5])<eos>$/.exec(text);
  return match ? ok(Number(match[1])) : invalid('off-grammar');
}

export const stylePrompt = (task: string): string => `<solve>${task}<sep>`;
export const styleJudgePrompt = (task: string, response: string): string =>
  `<judge>${task}<sep>${response}<sep>`;

const LETTERS = 'abdegiklmnoprstu';
export const randomWord = (random: Random): string =>
  Array.from({ length: 2 + random.int(4) }, () => random.pick([...LETTERS])).join('');

/** Held out by its source words, so that no held-out source is seen under any instruction. */
export function isHeldOutStyle(task: string): boolean {
  const parsed = parseStyleTask(task);
  return parsed.ok && isHeldOutKey('style', [...parsed.value.words].sort(compare.az).join(' '));
}

/** How many choices a perfect response has to get right: the source's words, and two more when words repeat. */
export function styleDifficulty(task: string): number {
  const parsed = parseStyleTask(task);
  if (!parsed.ok) return 0;
  const { words } = parsed.value;
  return words.length + (new Set(words).size < words.length ? 2 : 0);
}

/** A task of `words` source words (3 … 10), one of which is often there twice. */
export function randomStyleTask(random: Random, words = 3 + random.int(4), heldOut = false): string {
  const count = Math.min(MAX_WORDS, Math.max(3, words));
  return drawUntil(
    () => {
      const source = Array.from({ length: count }, () => randomWord(random));
      if (random.bool()) source[random.int(count)] = random.pick(source);
      const least = 2 + random.int(Math.min(3, count - 2));
      const most = Math.min(9, least + random.int(3));
      return writeStyleTask({ order: random.pick(ORDERS), least, most, words: source });
    },
    (task) => parseStyleTask(task).ok && isHeldOutStyle(task) === heldOut,
  );
}

/** A perfect response. */
export function exemplar(random: Random, { order, least, most, words }: StyleTask): string {
  const distinct = random.shuffle([...new Set(words)]);
  const count = least + random.int(Math.min(most, distinct.length) - least + 1);
  return distinct.slice(0, count).sort(compare[order]).join(' ');
}

/** The first held-out tasks of the family, up to 400. */
export const heldOutStyle = heldOutTasks(
  'style',
  400,
  (random, held) => randomStyleTask(random, undefined, held),
  isHeldOutStyle,
);
