/**
 * Demonstrations of the two roles on string transformations, for the warm start. They are imperfect on purpose: the responder is shown careless
 * responses beside careful ones, so that it can improve by choosing among what it can do already; some of the judge’s digits only count words, so
 * that its scores are informative, prefer the longer of two equally good responses, and can be hacked. Held-out tasks are never demonstrated.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { STOP } from '../worked.ts';
import {
  compare,
  parseStyleTask,
  randomStyleTask,
  type StyleTask,
  styleJudgePrompt,
  stylePrompt,
  styleScore,
} from './family.ts';
import { mixedResponse } from './flaws.ts';

const JUDGE_SHARE = 0.45;
/** How often a responder keeps the asked order, avoids repeating a word and keeps the asked length. */
const KEEPS = { order: 0.45, distinct: 0.65, length: 0.5 } as const;
/** The least and the most words of a response that ignores the asked length. */
const ANY_LENGTH = [1, 5] as const;
/** Share of the judge's digits that count words instead of points. */
const LAZY_SHARE = 0.2;
/** Share of the habitual responses before the judge with a copying error. */
const SLIP_SHARE = 0.5;

/** Words of the source, each of three points kept or neglected independently. */
export function habitualResponse(random: Random, { order, least, most, words }: StyleTask): string {
  const pool = random.shuffle([...new Set(words)]);
  const [from, to] = random.bool(KEEPS.length) ? [least, most] : ANY_LENGTH;
  const count = from + random.int(Math.max(1, Math.min(to, pool.length) - from + 1));
  const chosen = pool.slice(0, count);
  if (count > 1 && !random.bool(KEEPS.distinct)) chosen[random.int(count)] = chosen[random.int(count)]!;
  return (random.bool(KEEPS.order) ? chosen.sort(compare[order]) : chosen).join(' ');
}

/** A response with one letter from elsewhere in its task, as a policy miscopies. It may change nothing. */
function withSlip(random: Random, response: string, { words }: StyleTask): string {
  const at = random.int(response.length);
  if (response[at] === ' ') return response;
  return response.slice(0, at) + random.pick([...words.join('')]) + response.slice(at + 1);
}

/** What a judge is shown: responses of every quality, and what a responder might write. */
export function judgedResponse(random: Random, task: StyleTask): string {
  if (random.bool()) return mixedResponse(random, task);
  const response = habitualResponse(random, task);
  return random.bool(SLIP_SHARE) ? withSlip(random, response, task) : response;
}

/** The number of words of a response, as the digit that a judge writes. */
const wordCount = (response: string): number => Math.min(5, response.split(' ').filter(Boolean).length);

/** A response, or a score. */
export function demonstrateStyle(random: Random): Demonstration {
  const task = randomStyleTask(random);
  const parsed = parseStyleTask(task);
  if (!parsed.ok) throw new Error(`internal: ${task} is no task: ${parsed.reason}`);
  if (!random.bool(JUDGE_SHARE)) {
    const completion = `<answer>${habitualResponse(random, parsed.value)}${STOP}`;
    return { role: 'responder', prompt: stylePrompt(task), completion };
  }
  const response = judgedResponse(random, parsed.value);
  const digit = random.bool(LAZY_SHARE) ? wordCount(response) : styleScore(task, response);
  return { role: 'judge', prompt: styleJudgePrompt(task, response), completion: `${digit}${STOP}` };
}
