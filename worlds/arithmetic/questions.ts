/**
 * Questions that a proposer may have written wrongly. An arithmetic chain is sound; a string with two signs in a row is ambiguous (`3--4`: the
 * notation has no signed digits); anything else (`7+*3`, `4/0`, `5+`) has no answer.
 *
 *     proposer  <propose>                 ->  3+4-9<eos>
 *     proposer  <propose>3+4-9<sep>       ->  3+4-8<eos>     with a question to vary
 */
import type { Random } from '../../core/random.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { arithmetic, randomTask } from './family.ts';

export type Soundness = 'sound' | 'ambiguous' | 'unsolvable';

const QUESTION = /^[0-9+\-*/]{1,12}$/;
const SIGNED = /^\d(?:[+-]{1,2}\d){1,5}$/;

/** Any string of the notation’s characters. Whether it is a sound question is decided by the judge and by the exact checker. */
export function parseQuestion(text: string): ParseResult<string> {
  const body = withoutStop(text);
  return body !== null && QUESTION.test(body) ? ok(body) : invalid('off-grammar');
}

/** The exact checker of questions. */
export function soundness(question: string): Soundness {
  if (arithmetic.parseProposal(`${question}${arithmetic.stop}`).ok) return 'sound';
  return SIGNED.test(question) ? 'ambiguous' : 'unsolvable';
}

export const proposalPrompt = (reference?: string): string =>
  reference === undefined ? arithmetic.proposerPrompt() : `${arithmetic.proposerPrompt()}${reference}<sep>`;

/** Changes one digit or one operator: the result is sound where the task was, and always another string. */
export function varied(random: Random, task: string): string {
  const at = random.int(task.length);
  const old = task[at]!;
  const other = at % 2 === 1 ? (old === '+' ? '-' : '+') : String((Number(old) + 1 + random.int(9)) % 10);
  return task.slice(0, at) + other + task.slice(at + 1);
}

/** A task with one fault: an unknown or missing operator, a doubled sign, or a missing digit. It is never sound. */
export function spoiled(random: Random, task = randomTask(random)): string {
  const at = 1 + 2 * random.int((task.length - 1) / 2);
  const [before, operator, after] = [task.slice(0, at), task[at]!, task.slice(at + 1)];
  switch (random.int(6)) {
    case 0:
      return before + operator + random.pick(['*', '/']) + after;
    case 1:
      return before + random.pick(['*', '/']) + after;
    case 2:
      return before + operator + random.pick(['+', '-']) + after;
    case 3:
      return before + after;
    case 4:
      return `${task}${random.pick(['+', '-', '*'])}`.slice(-12);
    default:
      return operator + task.slice(1);
  }
}

/** Totals that a solver may write for a question that has no answer: doubled signs and unknown operators are skipped. */
export function looseTotals(question: string): number[] {
  const terms = question.match(/[+-]?\d/g) ?? [];
  let total = Number(terms[0] ?? 0);
  return terms.length > 1 ? terms.slice(1).map((term) => (total += Number(term))) : [total];
}
