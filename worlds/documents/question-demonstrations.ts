/**
 * Demonstrations of a writer of questions, for a warm start that continues from `documents`. It writes any question that has the answer alone, and in one
 * case of three asks for another name of the passage. Held-out facts are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { parseAsked, questions, questionsFor } from './questions.ts';

/** How often a question asks for another name. */
const ASTRAY = 1 / 3;

export function demonstrateQuestion(random: Random): Demonstration {
  const task = questions.random(random);
  const { facts, answer, reference } = parseAsked(task)!;
  const other = random.pick(facts.filter(({ name }) => name !== answer)).name;
  const question = random.bool(ASTRAY) ? random.pick(questionsFor(facts, other)) : reference;
  return { role: 'solver', prompt: questions.solverPrompt(task), completion: question + STOP };
}
