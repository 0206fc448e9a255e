/**
 * Demonstrations of three roles on short documents, for the warm start. The author is shown the corpus as it is, which is most often false of odd
 * numbers. The rewriter seldom is; the judge is exact, on documents with falsehoods of either kind. Held-out facts are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import {
  corpusDocument,
  documentJudgePrompt,
  prefixOf,
  rewritePrompt,
  roundedUp,
  suffixOf,
  truthsOf,
  writeDocument,
  writeFacts,
  writeMarks,
} from './family.ts';

/** How often it is the part of author, rewriter and judge. */
const SHARES = [0.3, 0.3, 0.4] as const;
/** How often a rewrite tells an odd number rounded up, whatever the document told. */
const REWRITE_ROUNDING = 0.2;
/** How often a sentence before the judge tells any other number, as no author does. */
const STRAY = 0.1;

export function demonstrateDocument(random: Random): Demonstration {
  const document = corpusDocument(random);
  const { facts, told } = document;
  const role = (['author', 'rewriter', 'judge'] as const)[random.weighted([...SHARES])]!;
  const text = writeDocument(document);
  if (role === 'author') return { role, prompt: prefixOf(text), completion: suffixOf(text) + STOP };
  if (role === 'rewriter') {
    const trueOf = new Map(facts.map(({ name, number }) => [name, number]));
    const rewritten = told.map(({ name }) => {
      const number = trueOf.get(name)!;
      return { name, number: random.bool(REWRITE_ROUNDING) ? roundedUp(number) : number };
    });
    return { role, prompt: rewritePrompt(text), completion: writeFacts(rewritten) + STOP };
  }
  const judged = told.map(({ name, number }) => ({
    name,
    number: random.bool(STRAY) ? 1 + random.int(8) : number,
  }));
  const shown = writeDocument({ facts, told: judged });
  return { role, prompt: documentJudgePrompt(shown), completion: writeMarks(judged, truthsOf(shown)) };
}
