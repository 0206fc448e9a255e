/**
 * A Hugging Face tokenizer.json as llama.cpp's metadata has it: byte-level BPE with a splitting that llama.cpp knows by name, or the pieces of
 * SentencePiece (`byte_fallback`), which have scores there in place of merges.
 */
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { ModelConfig } from '../config.ts';
import type { GgufValue } from './format.ts';

const preTokenizer = v.looseObject({
  type: v.string(),
  add_prefix_space: v.optional(v.boolean(), false),
  use_regex: v.optional(v.boolean(), true),
  individual_digits: v.optional(v.boolean(), false),
  behavior: v.optional(v.string()),
  pattern: v.optional(v.looseObject({ Regex: v.optional(v.string()) })),
});
const tokenizerFile = v.looseObject({
  added_tokens: v.optional(
    v.array(v.looseObject({ id: v.number(), content: v.string(), special: v.boolean() })),
    [],
  ),
  normalizer: v.nullish(
    v.looseObject({
      type: v.string(),
      normalizers: v.optional(v.array(v.looseObject({ type: v.string() }))),
    }),
  ),
  pre_tokenizer: v.nullish(
    v.union([
      v.looseObject({ type: v.literal('Sequence'), pretokenizers: v.array(preTokenizer) }),
      preTokenizer,
    ]),
  ),
  model: v.looseObject({
    type: v.string(),
    vocab: v.record(v.string(), v.number()),
    merges: v.array(v.union([v.string(), v.tuple([v.string(), v.string()])])),
    byte_fallback: v.nullish(v.boolean()),
    unk_token: v.nullish(v.string()),
    ignore_merges: v.nullish(v.boolean()),
  }),
});
type PreTokenizer = v.InferOutput<typeof preTokenizer>;
type TokenizerFile = v.InferOutput<typeof tokenizerFile>;

/** Kinds of tokens, by the format's numbers. */
const Kind = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** What splits text before merges apply, by how often a number is cut. */
const words = (digits: string): string =>
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const GROUPED = words(String.raw`\p{N}{1,3}`);
const SINGLE = words(String.raw`\p{N}`);

const refused = (what: string) =>
  wrongInput('export.gguf', `llama.cpp has no form for this tokenizer: ${what}.`, {
    expected:
      'byte-level BPE that splits text as GPT-2, SmolLM, Llama 3 or Qwen2 does, or SentencePiece with byte_fallback',
    next: 'Export it without --gguf.',
  });

/** Whether SentencePiece writes its mark for a space before a text, by what stands in its place in tokenizer.json. */
function marksBegin({ normalizer, pre_tokenizer: pre }: TokenizerFile): boolean {
  const steps = (normalizer?.normalizers ?? (normalizer ? [normalizer] : [])).map(({ type }) => type).join();
  const splits = pre && !(pre.type === 'Split' && (pre as PreTokenizer).behavior === 'MergedWithPrevious');
  if (splits || (steps !== 'Replace' && steps !== 'Prepend,Replace'))
    throw refused(`its normalizer is ${steps || 'none'}, its pre_tokenizer ${pre?.type ?? 'none'}`);
  return steps === 'Prepend,Replace';
}

/**
 * Scores in the order of the merges: llama.cpp joins the two neighbours whose piece has the highest. It joins any two that make a piece, so that
 * the merges must have every such pair, as those of tokenizers that come from SentencePiece do.
 */
function scoresOf(
  tokens: readonly string[],
  merges: readonly string[],
  pieces: ReadonlySet<string>,
): number[] {
  const pairs = new Set(merges);
  for (const piece of pieces) {
    const letters = [...piece];
    for (let i = 1; i < letters.length; i++) {
      const [a, b] = [letters.slice(0, i).join(''), letters.slice(i).join('')];
      if (pieces.has(a) && pieces.has(b) && !pairs.has(`${a} ${b}`))
        throw refused(
          `no merge makes ${JSON.stringify(piece)} of ${JSON.stringify(a)} and ${JSON.stringify(b)}`,
        );
    }
  }
  const rank = new Map<string, number>();
  for (const [i, merge] of merges.entries()) {
    const piece = merge.replace(' ', '');
    if (!rank.has(piece)) rank.set(piece, i);
  }
  return tokens.map((token) => -(rank.get(token) ?? merges.length));
}

/** llama.cpp's name of what splits text. */
function splittingOf({ model, normalizer, pre_tokenizer: pre }: TokenizerFile): string {
  if (normalizer && normalizer.type !== 'NFC') throw refused(`its normalizer is ${normalizer.type}`);
  const parts = !pre
    ? []
    : 'pretokenizers' in pre
      ? (pre.pretokenizers as PreTokenizer[])
      : [pre as PreTokenizer];
  const bytes = parts.at(-1);
  const before = parts.slice(0, -1);
  const [first] = before;
  const isByteLevel = bytes?.type === 'ByteLevel' && !bytes.add_prefix_space && before.length <= 1;
  if (isByteLevel && !first && bytes.use_regex) return 'gpt-2';
  if (isByteLevel && first?.type === 'Digits' && first.individual_digits && bytes.use_regex) return 'smollm';
  const pattern = first?.type === 'Split' && first.behavior === 'Isolated' ? first.pattern?.Regex : undefined;
  if (isByteLevel && !bytes.use_regex && pattern === SINGLE) return 'qwen2';
  // The same splitting has two names, of which one takes a whole word that is a token before any merge.
  if (isByteLevel && !bytes.use_regex && pattern === GROUPED)
    return model.ignore_merges ? 'llama-bpe' : 'dbrx';
  throw refused(
    `its pre_tokenizer is ${JSON.stringify(parts.map(({ type }) => type))} with a splitting of its own`,
  );
}

export interface TokenizerTexts {
  /** tokenizer.json, parsed. */
  readonly tokenizer: unknown;
  /** tokenizer_config.json, parsed; empty where there is none. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether a text begins with the begin token. */
  readonly addsBegin: boolean;
}

/** The tokenizer's part of the metadata. Throws `export.gguf` for a tokenizer that llama.cpp would read otherwise. */
export function tokenizerMetadata(
  { vocabSize, bosId, eosIds }: Pick<ModelConfig, 'vocabSize' | 'bosId' | 'eosIds'>,
  { tokenizer, config, addsBegin }: TokenizerTexts,
): [string, GgufValue][] {
  const read = v.safeParse(tokenizerFile, tokenizer);
  if (!read.success) throw refused('its tokenizer.json has no vocabulary with merges');
  const { model, added_tokens: added } = read.output;
  if (model.type !== 'BPE') throw refused(`its model is ${model.type}`);
  const isPieces = model.byte_fallback === true;
  const splitting = isPieces ? undefined : splittingOf(read.output);
  const beginMark = isPieces ? marksBegin(read.output) : undefined;

  const tokens = Array.from({ length: vocabSize }, (_, id) => `[PAD${id}]`);
  const kinds = new Array<number>(vocabSize).fill(Kind.unused);
  const put = (id: number, text: string, kind: number): void => {
    tokens[id] = text;
    kinds[id] = kind;
  };
  const kindOf = (text: string): number => {
    if (text === model.unk_token) return Kind.unknown;
    return isPieces && /^<0x[0-9A-F]{2}>$/.test(text) ? Kind.byte : Kind.normal;
  };
  for (const [text, id] of Object.entries(model.vocab)) put(id, text, kindOf(text));
  for (const { id, content, special } of added) put(id, content, special ? Kind.control : Kind.userDefined);
  const pieces = new Set(tokens.filter((_, id) => kinds[id] === Kind.normal));
  const merges = model.merges.map((pair) => (typeof pair === 'string' ? pair : pair.join(' ')));

  const idOf = (token: unknown): number | undefined => {
    const text =
      typeof token === 'object' && token !== null ? (token as { content?: unknown }).content : token;
    return added.find(({ content }) => content === text)?.id;
  };
  const named = idOf(config.eos_token);
  const end = named !== undefined && eosIds.includes(named) ? named : eosIds[0];
  const template = Array.isArray(config.chat_template)
    ? (config.chat_template as { name: string; template: string }[]).find(({ name }) => name === 'default')
        ?.template
    : config.chat_template;
  const values: [string, GgufValue | undefined][] = [
    ['model', { string: isPieces ? 'llama' : 'gpt2' }],
    ['pre', { string: splitting ?? 'default' }],
    ['tokens', { strings: tokens }],
    ['token_type', { i32s: kinds }],
    ...(isPieces
      ? ([
          ['scores', { f32s: scoresOf(tokens, merges, pieces) }],
          ['add_space_prefix', { flag: beginMark === true }],
        ] as [string, GgufValue][])
      : ([['merges', { strings: merges }]] as [string, GgufValue][])),
    ['bos_token_id', bosId === null ? undefined : { u32: bosId }],
    ['eos_token_id', end === undefined ? undefined : { u32: end }],
    ['add_bos_token', { flag: addsBegin }],
  ];
  return [
    ...values.flatMap(([key, value]): [string, GgufValue][] =>
      value ? [[`tokenizer.ggml.${key}`, value]] : [],
    ),
    ...(typeof template === 'string'
      ? ([['tokenizer.chat_template', { string: template }]] as [string, GgufValue][])
      : []),
  ];
}
