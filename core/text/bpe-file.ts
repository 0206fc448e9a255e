/** A tokenizer.json in Hugging Face's format over byte-pair encoding. The order of its fields is in the hash of the file. */

interface BytePairs {
  /** By their ids; the first are `added`. */
  readonly tokens: readonly string[];
  /** Tokens that are never split or merged. */
  readonly added: readonly string[];
  /** How many of these, from the first, structure a conversation, and are no text. */
  readonly special: number;
  /** Stands for what the vocabulary does not have; null where it has every byte. */
  readonly unknown: string | null;
  readonly merges: readonly (readonly [string, string])[];
  readonly pre_tokenizer: object | null;
  readonly decoder: object;
}

export const bpeFile = ({
  tokens,
  added,
  special,
  unknown,
  merges,
  pre_tokenizer,
  decoder,
}: BytePairs): object => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: added.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: id < special,
  })),
  normalizer: null,
  pre_tokenizer,
  post_processor: null,
  decoder,
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: unknown,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges,
  },
});
