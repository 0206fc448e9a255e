/** A policy for tests that writes the texts it is told: the only place where a model is faked. It has no real probabilities. */
import type { Completion, GeneratePrompt, Policy, SamplingSettings } from '../../core/policy/policy.ts';
import { TAGS } from '../../core/text/characters.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';

const PIECE = new RegExp(`${TAGS.join('|')}|.`, 'gs');

/** A tokenizer that numbers tokens as they are met. It suffices for roles, which only encode, decode and look up the stop token. */
export function textTokenizer(): Tokenizer {
  const tokens: string[] = [];
  const id = (token: string) => {
    if (!tokens.includes(token)) tokens.push(token);
    return tokens.indexOf(token);
  };
  return {
    encode: (text) => (text.match(PIECE) ?? []).map(id),
    encodeWhole: (text) => (text.match(PIECE) ?? []).map(id),
    bytes: (i) => new TextEncoder().encode(tokens[i] ?? ''),
    decode: (ids) => ids.map((i) => tokens[i] ?? '').join(''),
    id,
    vocabSize: 1000,
  };
}

/** `write` gets the prompt's text and the sample's id, and returns the completion's text. */
export function scriptedPolicy(
  tokenizer: Tokenizer,
  write: (prompt: string, sampleId: string, i: number) => string,
): Policy {
  return {
    ref: { name: 'scripted', version: 3 },
    generate: (prompts: readonly GeneratePrompt[], settings: SamplingSettings) =>
      Promise.resolve(
        prompts.map(({ ids, sampleIds }) =>
          sampleIds.map((sampleId, i): Completion => {
            const all = tokenizer.encode(write(tokenizer.decode(ids), sampleId, i));
            const out = all.slice(0, settings.maxNew);
            return {
              ids: out,
              logprobs: out.map(() => -1),
              stopped: settings.stop.includes(out.at(-1) ?? -1),
            };
          }),
        ),
      ),
    score: () => Promise.reject(new Error('not scripted')),
    dispose: () => Promise.resolve(),
  };
}
