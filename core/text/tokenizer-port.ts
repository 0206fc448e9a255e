/** The part of a tokenizer that roles use. `core/text/tokenizer.ts` implements it over a real tokenizer.json. */
export interface Tokenizer {
  /** Token ids of a text, with no special tokens added. */
  encode(text: string): number[];
  /** Token ids of a text that is a whole prompt: with the special tokens, such as the one that begins a text, that the tokenizer puts around it, each once. */
  encodeWhole(text: string): number[];
  /** The bytes (UTF-8) that a token is of a text that goes on; empty for an id that has no token. A letter may take several tokens. */
  bytes(id: number): Uint8Array;
  /** Text of token ids; special tokens are kept. */
  decode(ids: readonly number[]): string;
  /** The id of one token, which must exist. */
  id(token: string): number;
  readonly vocabSize: number;
}
