/** Makes a character-level tokenizer.json, in Hugging Face's format: one token per character, and the roles' tags as special tokens. */

export const TAGS = [
  '<pad>',
  '<unk>',
  '<propose>',
  '<solve>',
  '<judge>',
  '<sep>',
  '<step>',
  '<answer>',
  '<ok>',
  '<bad>',
  '<right>',
  '<wrong>',
  '<eos>',
] as const;

const CHARACTERS = '0123456789+-*/=().,:;?!\'"%$_<> \nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** BPE without merges splits a text into its characters; Fuse joins them again without spaces. */
export function characterTokenizer(): { readonly vocabSize: number; readonly json: object } {
  const tokens = [...TAGS, ...CHARACTERS];
  return {
    vocabSize: tokens.length,
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: TAGS.map((content, id) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: { type: 'Fuse' },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: '<unk>',
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: [],
      },
    },
  };
}
