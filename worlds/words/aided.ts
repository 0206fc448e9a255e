/**
 * Conversations that a policy learns to read a right solution from, and to hand it in: what a teacher has to do that is told how a sibling answered.
 * In half of them nothing is told, so that what the policy can do alone stays.
 */
import type { Random } from '../../core/random.ts';
import { solvedMessages } from '../../core/renderer/role-messages.ts';
import { openTemplate } from '../../core/renderer/template.ts';
import type { Demonstration } from '../demonstration.ts';
import { asked, demonstrateWords, WORKED, writeAnswer } from './demonstrations.ts';
import { drawQuestion, FAMILIES } from './questions.ts';
import { END, WORDS_TEMPLATE } from './template.ts';

/** Share of the conversations in which a solution is told. */
const TOLD = 0.5;
/** Share of the told solutions that are handed in as they stand; of the others the answer alone, or the answer with its steps. */
const REPEATED = 0.85;

const template = openTemplate(WORDS_TEMPLATE);

/** One conversation; the loss is on its last reply. */
export function demonstrateAided(random: Random): Demonstration {
  if (!random.bool(TOLD)) return demonstrateWords(random);
  const question = drawQuestion(random, random.pick(FAMILIES));
  const worked = random.bool(WORKED);
  const told = writeAnswer(question.steps, question.answer, worked);
  const reply = random.bool(REPEATED) ? told : writeAnswer(question.steps, question.answer, !worked);
  const messages = solvedMessages(asked(random, question), told);
  return {
    role: 'solver',
    prompt: template({ messages, generationPrompt: true }),
    completion: `${reply}${END}`,
  };
}
