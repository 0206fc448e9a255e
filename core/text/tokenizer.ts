/** Implements the roles' `Tokenizer` interface for a Hugging Face tokenizer.json, with @huggingface/tokenizers. */
import { Tokenizer as HfTokenizer } from '@huggingface/tokenizers';
import { wrongInput } from '../errors.ts';
import type { Tokenizer } from './tokenizer-port.ts';

/**
 * `json` is the parsed tokenizer.json, `config` the parsed tokenizer_config.json where there is one. Throws `wrong-input`
 * where the file is no tokenizer.
 */
export function openTokenizer(json: unknown, config: object = {}): Tokenizer {
  const inner = open(json, config);
  const vocabulary = inner.get_vocab(true);
  // Not Math.max of all ids: a call cannot take a hundred thousand arguments.
  const size = [...vocabulary.values()].reduce((most, id) => Math.max(most, id + 1), 0);
  return {
    encode: (text) => inner.encode(text, { add_special_tokens: false }).ids,
    // The library refuses to decode an empty list.
    decode: (ids) => (ids.length ? inner.decode([...ids], { skip_special_tokens: false }) : ''),
    id: (token) => {
      const id = inner.token_to_id(token);
      if (id !== undefined) return id;
      throw wrongInput('tokenizer.token', `The tokenizer has no token ${JSON.stringify(token)}.`, {
        next: 'Use a policy whose tokenizer knows the roles’ tags.',
      });
    },
    vocabSize: size,
  };
}

function open(json: unknown, config: object): HfTokenizer {
  try {
    // Without this flag decoding would drop spaces before punctuation, and the text would not encode to the same ids.
    return new HfTokenizer(json as object, { clean_up_tokenization_spaces: false, ...config });
  } catch (cause) {
    throw wrongInput('tokenizer.json', 'The tokenizer.json could not be read.', {
      expected: 'a Hugging Face tokenizer.json',
      cause,
    });
  }
}
