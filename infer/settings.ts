/** Checks the token ids and sampling settings that a policy is given, before anything is computed. */
import { wrongInput } from '../core/errors.ts';
import { isPatch, patchesIn, type Vision } from '../core/images/patches.ts';
import type { SamplingSettings, TokenIds } from '../core/policy/policy.ts';
import { automatonOf, checkGrammar } from './automaton.ts';
import type { Draw } from './session.ts';

const isId = (id: number, vocabSize: number): boolean => Number.isInteger(id) && id >= 0 && id < vocabSize;

/** What ids are checked against. `vision`: how the policy sees, if it does. */
export interface KnownIds {
  readonly vocabSize: number;
  readonly context: number;
  readonly vision?: Vision | undefined;
}

/**
 * Throws `wrong-input` unless all ids are in the vocabulary, or patches of images that the policy can see, and `length`, the length that the sequence may
 * reach, fits the context.
 */
export function checkIds(ids: TokenIds, length: number, { vocabSize, context, vision }: KnownIds): void {
  if (ids.length === 0)
    throw wrongInput('policy.empty', 'A sequence has no tokens.', { expected: 'at least one' });
  if (ids.some(isPatch)) checkPatches(ids, vision);
  const bad = ids.find((id) => !isId(id, vocabSize) && !isPatch(id));
  if (bad !== undefined)
    throw wrongInput('policy.token', `Token id ${bad} is not in the vocabulary.`, {
      expected: `integers from 0 to ${vocabSize - 1}`,
    });
  if (length > context)
    throw wrongInput('policy.too-long', `A sequence could reach ${length} tokens.`, {
      expected: `at most ${context}`,
      next: 'Shorten the prompt or lower maxNew.',
    });
}

function checkPatches(ids: TokenIds, vision: Vision | undefined): void {
  if (!vision)
    throw wrongInput('policy.blind', 'A sequence shows an image, and the policy does not see.', {
      expected: 'a policy whose config.json has `vision`',
      next: 'Choose one that sees, such as the start policy canvas.',
    });
  patchesIn(ids, vision);
  if (isPatch(ids.at(-1)!))
    throw wrongInput('image.last', 'A sequence ends with an image.', {
      expected: 'a token after it, which what follows is predicted from',
    });
}

/** Throws `wrong-input` for a value that is out of range and for a grammar that cannot be followed. */
export function checkSettings(settings: SamplingSettings, vocabSize: number): void {
  const { maxNew, temperature, topP = 1, topK = 0, stop, alternatives = 0 } = settings;
  const wrong = (what: string, expected: string) => wrongInput('policy.settings', what, { expected });
  if (!Number.isInteger(maxNew) || maxNew < 0) throw wrong(`maxNew is ${maxNew}.`, 'an integer from 0');
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    throw wrong(`temperature is ${temperature}.`, 'a number from 0');
  if (!(topP > 0 && topP <= 1)) throw wrong(`topP is ${topP}.`, 'a number above 0, at most 1');
  if (!Number.isInteger(topK) || topK < 0) throw wrong(`topK is ${topK}.`, 'an integer from 0');
  if (!Number.isInteger(alternatives) || alternatives < 0)
    throw wrong(`alternatives is ${alternatives}.`, 'an integer from 0');
  const bad = stop.find((id) => !isId(id, vocabSize));
  if (bad !== undefined) throw wrong(`Stop token ${bad} is not in the vocabulary.`, 'token ids');
  if (settings.grammar) checkGrammar(settings.grammar, vocabSize);
}

/** Checks the settings and returns those of the draw in the graph, with defaults filled in. */
export function drawOf(settings: SamplingSettings, vocabSize: number): Draw {
  checkSettings(settings, vocabSize);
  const { temperature, topP = 1, topK = 0, stop, grammar } = settings;
  return { temperature, topP, topK, automaton: automatonOf(stop, grammar, vocabSize) };
}
