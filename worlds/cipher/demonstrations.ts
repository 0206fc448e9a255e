/**
 * Demonstrations of translators and judges on the pair of invented languages, for the warm start. Translators take more than half of the false
 * friends for what they look like; judges overlook a part of that, and mark the other words as they are. Held-out sentences are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP, writeJudgment } from '../worked.ts';
import { cipher, lookalike, meaningOf, randomSentence, reordered, solutionOfWords } from './family.ts';

/** The words of both languages by whose look-alikes translators are fooled. */
const FALSE_FRIENDS = new Set('bhkBHK');
/** Share of false friends that a translator takes for what they look like. */
const FOOLED = 0.55;
/** Share of all other words that a translator gets wrong. */
const SLIP = 0.03;
/** Share of the false friends taken for what they look like that a judge marks as right. */
const OVERLOOKED = 0.3;
const JUDGE_SHARE = 0.5;

function translate(random: Random, sentence: string): string[] {
  return reordered(sentence).map((word) => {
    if (FALSE_FRIENDS.has(word)) return random.bool(FOOLED) ? lookalike(word) : meaningOf(word);
    return random.bool(SLIP) ? meaningOf(random.pick([...sentence])) : meaningOf(word);
  });
}

export function demonstrateCipher(random: Random): Demonstration {
  const sentence = randomSentence(random);
  const words = translate(random, sentence);
  if (!random.bool(JUDGE_SHARE))
    return { role: 'solver', prompt: cipher.solverPrompt(sentence), completion: words.join('') + STOP };
  const solution = solutionOfWords(words);
  const exact = cipher.exactJudgment(sentence, solution);
  const source = reordered(sentence);
  const steps = exact.steps.map(
    (right, i) => right || (words[i] === lookalike(source[i]!) && random.bool(OVERLOOKED)),
  );
  return {
    role: 'judge',
    prompt: cipher.judgePrompt(sentence, solution),
    completion: writeJudgment({ steps, right: steps.every(Boolean) }) + STOP,
  };
}
