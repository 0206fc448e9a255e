/**
 * Arithmetic chains for a solver that rambles and jumps to its answer, and two readers of what it writes before its answer: a segmenter says at which
 * lines a chunk begins, and a scorer how important each chunk is, from 1 to 5.
 *
 *     solver     <solve>3+4-9<sep>                          ->  line* <answer>total<eos>       line: <step>total, or filler: <step>word
 *     segmenter  <propose><step>7<step>hm<step>so<sep>      ->  ;;.<eos>                       `;` where a chunk begins, `.` where it goes on
 *     scorer     <judge><step>7;<step>hm<step>so<sep>       ->  51<eos>                        a digit for each chunk
 *
 * A solver may write any number of lines, none included; the answer decides whether it is right. In the warm start four solvers in ten jump to the
 * answer before they have stated all totals, and are wrong more often the more they leave out; before a total or the answer a line of filler comes as
 * often as not. Segmenters mostly begin a chunk at every total and at the first line of filler after one; scorers mostly call totals important and
 * filler not.
 */
import type { Wordings } from '../../core/game/game.ts';
import type { Random } from '../../core/random.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import { beginning } from './aided.ts';
import { off } from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';
import { slippingTask } from './step-slips.ts';

/** Tokens of an answer; no demonstration is longer. */
const MAX_TOKENS = 64;
/** Share of solvers that jump to the answer before all totals are stated. */
const JUMPS = 0.4;
/** Probability that a total or the answer is wrong: after the total before it, and more for each one that was left out between them. */
const SLIP = { next: 0.08, more: 0.3 } as const;
/** How often one more line of filler comes before a total or the answer, and the most lines of filler in a demonstration. */
const GOES_ON = 0.5;
const MOST_FILLER = 7;
const FILLER = ['hm', 'so', 'ok', 'now', 'well', 'wait'] as const;
/** Share of the segmenter's marks that are the other one, and of the scorer's digits that are drawn at random. */
const MARK_SLIP = 0.1;
const SCORE_SLIP = 0.2;
const SHARES = { solver: 0.5, segmenter: 0.25, scorer: 0.25 } as const;

/** The highest score of a chunk; the lowest is 1. */
const TOP_SCORE = 5;
/** Tokens of a segmentation and of scores: an answer has at most `MAX_TOKENS` / 2 lines. */
export const READER_TOKENS = MAX_TOKENS / 2 + 1;

const TOTAL = '(?:0|-?[1-9]\\d?)';
const SOLUTION = new RegExp(`^((?:<step>(?:${TOTAL}|[a-z]{1,6}))*)<answer>(${TOTAL})<eos>$`);

/** Does a line state nothing? */
export const isFiller = (line: string): boolean => /^[a-z]+$/.test(line);
const isTotal = (line: string) => !isFiller(line);

/** The share of a task's totals that these lines state, right or wrong, in [0, 1]. */
export const totalsKept = (task: string, lines: readonly string[]): number =>
  Math.min(1, lines.filter(isTotal).length / arithmetic.difficulty(task));

/** A solution's steps are its lines, filler included. */
export const rambledArithmetic: TaskFamily = {
  ...arithmetic,
  name: 'arithmetic, rambled',
  maxNew: { ...arithmetic.maxNew, solver: MAX_TOKENS },
  workedPrefix: '',
  parseSolution: (_task, text) => {
    const [, lines, answer] = SOLUTION.exec(text) ?? [];
    return answer === undefined
      ? invalid('off-grammar')
      : ok({ steps: lines!.split('<step>').slice(1), answer });
  },
  /** Lines may leave out totals; those that they state must be the task's, in its order. */
  exactJudgment: (task, { steps: lines, answer }) => {
    const exact = runningTotals(task).map(String);
    let from = 0;
    const steps = lines.map((line) => {
      if (isFiller(line)) return true;
      const at = exact.indexOf(line, from);
      if (at >= 0) from = at + 1;
      return at >= 0;
    });
    return { steps, right: steps.every(Boolean) && answer === exact.at(-1) };
  },
};

export const segmentPrompt = (lines: readonly string[]): string => `<propose>${beginning(lines)}<sep>`;

export const scorePrompt = (chunks: readonly (readonly string[])[]): string =>
  `<judge>${chunks.map(beginning).join(';')}<sep>`;

/** Lines cut into chunks [chunks][lines], none of which is lost. Reasons: off-grammar, verdict-count. */
export function parseSegments(lines: readonly string[], text: string): ParseResult<string[][]> {
  const [, marks] = /^(;[;.]*)<eos>$/.exec(text) ?? [];
  if (marks === undefined) return invalid('off-grammar');
  if (marks.length !== lines.length) return invalid('verdict-count');
  const chunks: string[][] = [];
  for (const [i, line] of lines.entries())
    if (marks[i] === ';') chunks.push([line]);
    else chunks.at(-1)!.push(line);
  return ok(chunks);
}

/** The importance of each chunk, 1 to 5 [chunks]. Reasons: off-grammar, verdict-count. */
export function parseScores(chunks: readonly unknown[], text: string): ParseResult<number[]> {
  const [, digits] = /^([1-5]+)<eos>$/.exec(text) ?? [];
  if (digits === undefined) return invalid('off-grammar');
  return digits.length === chunks.length ? ok([...digits].map(Number)) : invalid('verdict-count');
}

export const readerWords: Wordings<'segment' | 'weigh'> = {
  segment: {
    maxNew: READER_TOKENS,
    ask: ({ lines }) => segmentPrompt(lines),
    read: (text, { lines }) => parseSegments(lines, text),
  },
  weigh: {
    maxNew: READER_TOKENS,
    ask: ({ chunks }) => scorePrompt(chunks),
    read: (text, { chunks }) => {
      const scores = parseScores(chunks, text);
      return scores.ok ? ok(scores.value.map((score) => (score - 1) / (TOP_SCORE - 1))) : scores;
    },
  },
};

function ramble(random: Random, task: string): Solution {
  const lines: string[] = [];
  let written = 0;
  const fill = () => {
    while (written < MOST_FILLER && random.bool(GOES_ON)) {
      lines.push(random.pick(FILLER));
      written++;
    }
  };
  let error = 0;
  const state = (total: number, leftOut = 0) => {
    if (random.bool(SLIP.next + SLIP.more * leftOut)) error = off(random, total + error) - total;
    return String(total + error);
  };
  const exact = runningTotals(task);
  const stated = random.bool(JUMPS) ? random.int(exact.length) : exact.length;
  for (const total of exact.slice(0, stated)) {
    fill();
    lines.push(state(total));
  }
  fill();
  // An answer after the last total repeats it.
  const answer =
    stated < exact.length ? state(exact.at(-1)!, exact.length - stated - 1) : lines.findLast(isTotal)!;
  return { steps: lines, answer };
}

function segment(random: Random, lines: readonly string[]): string {
  return lines
    .map((line, i) => {
      const begins = isTotal(line) || i === 0 || isTotal(lines[i - 1]!);
      return i === 0 || begins !== random.bool(MARK_SLIP) ? ';' : '.';
    })
    .join('');
}

function score(random: Random, chunk: readonly string[]): number {
  if (random.bool(SCORE_SLIP)) return 1 + random.int(TOP_SCORE);
  const share = chunk.filter(isTotal).length / chunk.length;
  const about = 1 + Math.round((TOP_SCORE - 1) * share) + random.pick([-1, 0, 0, 1]);
  return Math.min(TOP_SCORE, Math.max(1, about));
}

export function demonstrateRambling(random: Random): Demonstration {
  const role = (['solver', 'segmenter', 'scorer'] as const)[random.weighted(Object.values(SHARES))]!;
  const task = slippingTask(random);
  const solution = ramble(random, task);
  if (role === 'solver' || solution.steps.length === 0)
    return {
      role: 'solver',
      prompt: arithmetic.solverPrompt(task),
      completion: writeSolution(solution) + arithmetic.stop,
    };
  const marks = segment(random, solution.steps) + arithmetic.stop;
  if (role === 'segmenter') return { role, prompt: segmentPrompt(solution.steps), completion: marks };
  const chunks = parseSegments(solution.steps, marks);
  if (!chunks.ok) throw new Error(`internal: a demonstrated segmentation does not parse: ${marks}`);
  return {
    role,
    prompt: scorePrompt(chunks.value),
    completion: chunks.value.map((chunk) => score(random, chunk)).join('') + arithmetic.stop,
  };
}
