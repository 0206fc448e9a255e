/** Makes a character-level tokenizer.json, in Hugging Face's format: one token per character, and the roles' tags as special tokens. */
import { bpeFile } from './bpe-file.ts';

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

interface Tokens {
  /** Special tokens, among them one that stands for what the vocabulary does not have. */
  readonly control: readonly string[];
  readonly unknown: string;
  /** Tokens of several characters that belong to the text; the longest that fits is taken. */
  readonly words?: readonly string[];
  readonly characters: string;
}

/** BPE without merges splits what is no control token and no word into its characters; Fuse joins them again without spaces. */
export function characterTokenizer(
  { control, unknown, words = [], characters }: Tokens = {
    control: TAGS,
    unknown: '<unk>',
    characters: CHARACTERS,
  },
): { readonly vocabSize: number; readonly json: object } {
  const added = [...control, ...words];
  const tokens = [...added, ...characters];
  return {
    vocabSize: tokens.length,
    json: bpeFile({
      tokens,
      added,
      special: control.length,
      unknown,
      merges: [],
      pre_tokenizer: null,
      decoder: { type: 'Fuse' },
    }),
  };
}
