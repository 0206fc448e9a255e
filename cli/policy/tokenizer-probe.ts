/**
 * A tokenizer.json brings regular expressions that others wrote, and a Worker cannot be interrupted while it matches one: an expression
 * that backtracks for ever would hang it with every text that begins so. So an import tries the tokenizer's parts first, under a time
 * limit, on the texts that make such expressions slow: long repetitions of what the expression itself names, with an end that does not fit.
 */
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { wrongInput } from '../../core/errors.ts';
import { patternsOf } from '../../core/text/pattern-cost.ts';
import { hardTexts, within } from '../shared/pattern-probe.ts';

/** The limit for all texts together. A normal tokenizer takes 100 ms. */
const LIMIT_MS = 5_000;

/**
 * @throws RollmeshError `tokenizer.slow` where its parts take longer than five seconds for some thousand short texts. What else is wrong
 * with the file is left to `openTokenizer`.
 */
export function refuseSlowTokenizer(json: unknown, config: object, limitMs = LIMIT_MS): void {
  const patterns = patternsOf(json);
  if (!patterns.length) return;
  let at = 'its added tokens';
  const work = () => {
    // It runs its normaliser over the added tokens already here.
    const { normalizer, pre_tokenizer, decoder } = new HfTokenizer(json as object, config);
    for (const pattern of patterns) {
      at = `the pattern ${JSON.stringify(pattern.slice(0, 200))}`;
      for (const text of hardTexts(pattern)) {
        normalizer?.normalize(text);
        pre_tokenizer?.pre_tokenize(text, { section_index: 0 });
        decoder?.decode([text]);
      }
    }
  };
  try {
    if (within(limitMs, work) === 'done') return;
  } catch {
    return;
  }
  throw wrongInput('tokenizer.slow', `The tokenizer takes more than ${limitMs} ms: ${at}.`, {
    expected: 'regular expressions whose time grows with the length of a text alone',
    next: 'Take the tokenizer of the published checkpoint, or import with --no-tokenizer.',
  });
}
