/** The part of a tokenizer that roles use. `core/text/tokenizer.ts` implements it over a real tokenizer.json. */
export interface Tokenizer {
  /** Token ids of a text, with no special tokens added. */
  encode(text: string): number[];
  /** Text of token ids; special tokens are kept. */
  decode(ids: readonly number[]): string;
  /** The id of one token, which must exist. */
  id(token: string): number;
  readonly vocabSize: number;
}
