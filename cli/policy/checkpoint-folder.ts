/** Reads a Hugging Face folder as the files of a version and checks it as a whole. It does not store anything. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { type FileStream, isAdapter } from '../../core/schema/policy.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import {
  checkStored,
  findTensors,
  type StoredTensor,
  type StoredTensors,
  storedFile,
  valuesOf,
} from '../../model/checkpoint-files.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readHead } from '../../model/head.ts';
import { type StorageType, writeSafetensors } from '../../model/safetensors.ts';
import { errnoOf, parseJson, readOptional } from './files.ts';
import { withDtype } from './hf-dtype.ts';
import { refuseSlowTokenizer } from './tokenizer-probe.ts';

const id = v.pipe(v.number(), v.integer(), v.minValue(0));
const ends = v.looseObject({ eos_token_id: v.nullish(v.union([id, v.array(id)])) });

const encode = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

/** The tokenizer's files and its size: the highest id plus one. */
interface TokenizerFiles {
  readonly files: Pick<CheckpointFiles, 'tokenizer.json' | 'tokenizer_config.json'>;
  readonly size: number;
}

type Config = Readonly<Record<string, unknown>>;
interface NamedTemplate {
  readonly name: string;
  readonly template: string;
}

/** The names of the special tokens that chat templates use. */
const SPECIAL = ['bos_token', 'eos_token', 'unk_token', 'pad_token'] as const;

/** The special tokens that special_tokens_map.json alone names, as older checkpoints have them. */
async function withSpecialTokens(folder: string, config: Config | undefined): Promise<Config | undefined> {
  const path = join(folder, 'special_tokens_map.json');
  const bytes = await readOptional(path);
  const map = bytes ? parseJson(bytes, path) : null;
  if (typeof map !== 'object' || map === null) return config;
  const own: Config = config ?? {};
  const missing = SPECIAL.filter(
    (name) => (own[name] ?? null) === null && ((map as Config)[name] ?? null) !== null,
  );
  return missing.length
    ? { ...own, ...Object.fromEntries(missing.map((name) => [name, (map as Config)[name]])) }
    : config;
}

/** The templates of additional_chat_templates/, by the names of their files. */
async function additionalTemplates(folder: string): Promise<NamedTemplate[]> {
  const inner = join(folder, 'additional_chat_templates');
  const names = await readdir(inner).catch(() => []);
  const files = names.filter((name) => name.endsWith('.jinja')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -'.jinja'.length),
      template: new TextDecoder().decode((await readOptional(join(inner, file)))!),
    })),
  );
}

/** Newer checkpoints keep templates in files of their own; a version has them in tokenizer_config.json, as older ones do. */
async function withChatTemplate(folder: string, config: Config | undefined): Promise<Config | undefined> {
  const bytes = await readOptional(join(folder, 'chat_template.jinja'));
  const template = bytes ? new TextDecoder().decode(bytes) : config?.chat_template;
  const additional = await additionalTemplates(folder);
  if (additional.length === 0) return bytes ? { ...config, chat_template: template } : config;
  const own = typeof template === 'string' ? [{ name: 'default', template }] : (template ?? []);
  const kept = (Array.isArray(own) ? (own as NamedTemplate[]) : []).filter(
    ({ name }) => !additional.some((other) => other.name === name),
  );
  return { ...config, chat_template: [...kept, ...additional] };
}

/** In the stored config.json: what an export writes again as it came, `eos_token_id` of config.json and the whole of generation_config.json. */
export const AS_IMPORTED = 'as_imported';

/** Tokens that end an answer and are named in generation_config.json alone, as Qwen's are, are kept in config.json. */
async function withEnds(folder: string, config: object): Promise<object> {
  const path = join(folder, 'generation_config.json');
  const bytes = await readOptional(path);
  const generation = v.safeParse(ends, bytes ? parseJson(bytes, path) : {});
  const own = v.safeParse(ends, config);
  if (!generation.success || !own.success) return config;
  if (!bytes) return config;
  const ids = [...new Set([own.output, generation.output].flatMap(({ eos_token_id: id }) => id ?? []))];
  const { eos_token_id } = own.output;
  return {
    ...config,
    ...(generation.output.eos_token_id === undefined || !ids.length
      ? {}
      : { eos_token_id: ids.length === 1 ? ids[0] : ids }),
    [AS_IMPORTED]: {
      ...(eos_token_id === undefined ? {} : { eos_token_id }),
      generation_config: generation.output,
    },
  };
}

/** The config of a checkpoint folder. Throws `checkpoint.files` or `config.*`. */
export async function readConfig(folder: string): Promise<{ json: object; config: ModelConfig }> {
  const path = join(folder, 'config.json');
  const bytes = await readOptional(path);
  if (!bytes)
    throw wrongInput('checkpoint.files', `There is no ${path}.`, {
      expected: 'a folder with config.json, tokenizer.json and model.safetensors',
      next: 'Name the folder of a Hugging Face checkpoint, or of a PEFT adapter.',
    });
  const own = parseJson(bytes, path);
  // A config that is not an object is refused below.
  const json = typeof own === 'object' && own !== null ? await withEnds(folder, own) : own;
  const config = parseConfig(json);
  const special = [config.bosId, ...config.eosIds].find((id) => id !== null && id >= config.vocabSize);
  if (special !== undefined)
    throw wrongInput('config.invalid', `config.json names token ${special} as its begin or end.`, {
      expected: `ids below vocab_size, ${config.vocabSize}`,
    });
  // parseConfig accepts only objects.
  return { json: json as object, config };
}

async function readTokenizer(folder: string): Promise<TokenizerFiles> {
  const path = join(folder, 'tokenizer.json');
  const bytes = await readOptional(path);
  if (!bytes)
    throw wrongInput('tokenizer.missing', `There is no ${path}.`, {
      expected: 'the tokenizer.json of the checkpoint',
      next: 'Add it, or import with --no-tokenizer: the policy then takes token ids only.',
    });
  const configPath = join(folder, 'tokenizer_config.json');
  const configBytes = await readOptional(configPath);
  const config = configBytes && parseJson(configBytes, configPath);
  if (config !== undefined && (typeof config !== 'object' || config === null || Array.isArray(config)))
    throw wrongInput('tokenizer.config', `${configPath} holds no JSON object.`, {
      expected: 'a JSON object',
    });
  const json = parseJson(bytes, path);
  refuseSlowTokenizer(json, config ?? {});
  const { vocabSize } = openTokenizer(json, config ?? {});
  const whole = await withChatTemplate(folder, await withSpecialTokens(folder, config as Config | undefined));
  const kept = whole === config ? configBytes : encode(whole);
  const files = { 'tokenizer.json': bytes, ...(kept ? { 'tokenizer_config.json': kept } : {}) };
  return { files, size: vocabSize };
}

async function withFiles<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw wrongInput('checkpoint.files', `A weight file in ${folder} cannot be read: ${code}.`, {
      expected: 'model.safetensors, or every shard that model.safetensors.index.json names',
      cause: error,
    });
  }
}

/** A tokenizer that ends with a token the model does not have in the place config.json says belongs to another model. */
function checkTokenizer(config: ModelConfig, size: number): void {
  const unknown = config.eosIds.find((id) => id >= size);
  if (unknown !== undefined)
    throw wrongInput(
      'checkpoint.tokenizer',
      `The tokenizer has ids up to ${size - 1}, config.json names ${unknown} as the end.`,
      { expected: 'the tokenizer that the model was trained with' },
    );
}

/** The type of all weights, or float32 where they have several. */
function dtypeOf(config: ModelConfig, tensors: StoredTensors): StorageType {
  const types = new Set([...tensorShapes(config).keys()].map((name) => tensors.get(name)!.dtype));
  return types.size === 1 ? [...types][0]! : 'F32';
}

/** The weights of a version with an adapter are those without it, so that an import would give the untrained policy. */
async function refuseAdapter(folder: string): Promise<void> {
  const adapter = (await readdir(folder)).find(isAdapter);
  if (adapter)
    throw wrongInput('checkpoint.adapter', `${folder} has an adapter, ${adapter}, apart from its weights.`, {
      expected: 'weights that have it folded in',
      next: 'Export the version from the mesh that has it, `npx rollmesh policy export NAME VERSION DIR`, and import that folder.',
    });
}

/** What a checkpoint folder is as a version: the weights are read when they are stored. */
export type CheckpointFiles = {
  readonly 'config.json': Uint8Array;
  readonly 'tokenizer.json'?: Uint8Array;
  readonly 'tokenizer_config.json'?: Uint8Array;
  readonly 'model.safetensors': FileStream;
  readonly 'main.head.safetensors'?: Uint8Array;
};

/** The name of the head of a sequence classifier in Hugging Face's layout, [labels, hidden]; it reads the last token. */
const SCORE = 'score.weight';

/**
 * The class head of a sequence classifier (LlamaForSequenceClassification and its like) as a version has it. A single label is a reward: it becomes the
 * log-odds of the second of two classes.
 */
async function classHeadOf({ hiddenSize }: ModelConfig, score: StoredTensor): Promise<Uint8Array> {
  const [labels, width] = score.shape as [number, number];
  if ((labels !== 1 && labels !== 2) || width !== hiddenSize)
    throw wrongInput('checkpoint.score', `${SCORE} has shape [${score.shape}].`, {
      expected: `[1, ${hiddenSize}], a reward, or [2, ${hiddenSize}], two classes of which the second is paid for`,
    });
  const weight = new Float32Array(2 * hiddenSize);
  let at = (2 - labels) * hiddenSize;
  for await (const values of valuesOf(score)) {
    weight.set(values, at);
    at += values.length;
  }
  const head = writeSafetensors(
    new Map([
      ['class_head.weight', { shape: [2, hiddenSize], data: weight }],
      ['class_head.bias', { shape: [2], data: new Float32Array(2) }],
    ]),
  );
  readHead({ hiddenSize }, head);
  return head;
}

/** A classifier has no output projection: its embeddings stand in for it, and what it says of next tokens means nothing. */
const asTied = (json: object, config: ModelConfig): { json: object; config: ModelConfig } => ({
  json: { ...json, tie_word_embeddings: true },
  config: { ...config, tiedEmbeddings: true },
});

/**
 * Reads and checks a checkpoint folder. The weights are one model.safetensors in the canonical order, each tensor in the type that it has;
 * config.json is as it was, but for its dtype.
 *
 * @throws RollmeshError `checkpoint.*`, `config.*`, `file.*`, `safetensors.*` or `tokenizer.*`, by what is wrong.
 */
export async function readCheckpointFolder(
  folder: string,
  { tokenizer }: { readonly tokenizer: boolean },
): Promise<CheckpointFiles> {
  const own = await readConfig(folder);
  await refuseAdapter(folder);
  const text = tokenizer ? await readTokenizer(folder) : undefined;
  if (text) checkTokenizer(own.config, text.size);
  const { json, config, tensors, head } = await withFiles(folder, async () => {
    const all = await findTensors(folder);
    const score = all.get(SCORE);
    const tensors = new Map([...all].filter(([name]) => name !== SCORE));
    const read = score && !tensors.has('lm_head.weight') ? asTied(own.json, own.config) : own;
    await checkStored(read.config, tensors, text?.size);
    return { ...read, tensors, head: score && (await classHeadOf(read.config, score)) };
  });
  return {
    ...(head ? { 'main.head.safetensors': head } : {}),
    'config.json': encode(withDtype(json, dtypeOf(config, tensors))),
    ...text?.files,
    'model.safetensors': storedFile(config, tensors),
  };
}
