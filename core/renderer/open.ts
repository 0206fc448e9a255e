/** Opens the renderer of a policy version from its files: its own chat template, the tags of a small policy, or plain text. */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { finite } from '../schema/numbers.ts';
import type { VersionFiles } from '../schema/policy.ts';
import { tokenizerOf } from '../text/policy-text.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { openRenderer, type Renderer } from './renderer.ts';
import type { RendererKind } from './renderer-kinds.ts';
import { openTemplate, type Template } from './template.ts';
import { PLAIN_STOPS, PLAIN_TEMPLATE, TAGS_TEMPLATE } from './templates.ts';

export interface RendererSettings {
  /** `auto`: the policy's chat template, else the tags where the tokenizer has them, else plain text. */
  readonly kind?: RendererKind;
  /** Switches of the chat template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** A special token is written as its text, or as an object that also says how it is matched. */
const specialToken = v.nullish(
  v.union([
    v.string(),
    v.pipe(
      v.looseObject({ content: v.string() }),
      v.transform(({ content }) => content),
    ),
  ]),
);
const tokenizerConfig = v.looseObject({
  chat_template: v.nullish(
    v.union([v.string(), v.array(v.object({ name: v.string(), template: v.string() }))]),
  ),
  bos_token: specialToken,
  eos_token: specialToken,
  unk_token: specialToken,
  pad_token: specialToken,
});
type TokenizerConfig = v.InferOutput<typeof tokenizerConfig>;

const addedTokens = v.looseObject({
  added_tokens: v.optional(v.array(v.looseObject({ content: v.string(), special: v.boolean() })), []),
});
const modelConfig = v.looseObject({
  vocab_size: v.nullish(finite),
  eos_token_id: v.nullish(v.union([finite, v.array(finite)])),
});

const json = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? {} : (JSON.parse(new TextDecoder().decode(bytes)) as unknown);

function read<T>(schema: v.GenericSchema<unknown, T>, file: string, value: unknown): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issue = result.issues[0];
  throw wrongInput('renderer.config', `${file}: ${v.getDotPath(issue) ?? ''}: ${issue.message}.`, {
    expected: 'the files of a Hugging Face checkpoint',
  });
}

const TAGS = ['<solve>', '<sep>', '<eos>'];

/** The policy's chat template: for a conversation with tools the one for tools, where there is a separate one. */
function chatTemplate(
  { chat_template: template }: TokenizerConfig,
  variables: Record<string, unknown>,
): Template | null {
  if (template === null || template === undefined) return null;
  if (typeof template === 'string') return openTemplate(template, variables);
  const named = (name: string) => template.find((each) => each.name === name)?.template;
  const plain = named('default') ?? template[0]?.template;
  if (plain === undefined) return null;
  const [byDefault, withTools] = [
    openTemplate(plain, variables),
    openTemplate(named('tool_use') ?? plain, variables),
  ];
  return (input) => (input.tools?.length ? withTools : byDefault)(input);
}

/** Tokens that the template puts right after an answer. They end it, whatever end token the configuration names. */
function turnEnds(template: Template, controlTokens: readonly string[]): string[] {
  const probe = 'answer';
  let text: string;
  try {
    const messages = [
      { role: 'user', content: 'question' },
      { role: 'assistant', content: probe },
    ] as const;
    text = template({ messages, generationPrompt: false });
  } catch {
    // A template that refuses such a conversation does not show how an answer ends; then the configuration must.
    return [];
  }
  const after = text.slice(text.lastIndexOf(probe) + probe.length).trimStart();
  return controlTokens.filter((token) => after.startsWith(token));
}

/**
 * Throws `wrong-input`: `renderer.no-template` where a chat template was asked for and there is none, `renderer.no-end` where nothing
 * ends an answer, `tokenizer.token` where the tags were asked for and the tokenizer lacks them.
 */
export function rendererOf(files: VersionFiles, policy: string, settings: RendererSettings = {}): Renderer {
  const tokenizer = tokenizerOf(files, policy);
  const config = read(tokenizerConfig, 'tokenizer_config.json', json(files['tokenizer_config.json']));
  const special = read(addedTokens, 'tokenizer.json', json(files['tokenizer.json'])).added_tokens;
  const controlTokens = special.filter((token) => token.special).map(({ content }) => content);
  const model = read(modelConfig, 'config.json', json(files['config.json']));
  // Many checkpoints have more rows of embeddings than their tokenizer has tokens.
  const vocabSize = Math.max(tokenizer.vocabSize, model.vocab_size ?? 0);
  const isTagged = TAGS.every((tag) => controlTokens.includes(tag));
  const kind =
    settings.kind === undefined || settings.kind === 'auto'
      ? config.chat_template
        ? 'chat'
        : isTagged
          ? 'tags'
          : 'plain'
      : settings.kind;

  if (kind === 'tags')
    return openRenderer({
      kind,
      template: openTemplate(TAGS_TEMPLATE),
      tokenizer,
      stops: TAGS.map((tag) => tokenizer.id(tag)).slice(-1),
      stopStrings: [],
      controlTokens,
      vocabSize,
    });

  const names = ['bos_token', 'eos_token', 'unk_token', 'pad_token'] as const;
  const tokens = Object.fromEntries(names.flatMap((name) => (config[name] ? [[name, config[name]]] : [])));
  const ends = configuredEnds(model, config, tokenizer);
  if (kind === 'plain')
    return openRenderer({
      kind,
      template: openTemplate(PLAIN_TEMPLATE, { bos_token: '', ...tokens }),
      tokenizer,
      stops: ends,
      stopStrings: PLAIN_STOPS,
      controlTokens,
      vocabSize,
    });

  const template = chatTemplate(config, { ...tokens, ...settings.variables });
  if (!template)
    throw wrongInput('renderer.no-template', `Policy ${policy} has no chat template.`, {
      expected: 'chat_template in its tokenizer_config.json, or chat_template.jinja beside it at the import',
      next: 'Import it again with its template, or use --renderer plain.',
    });
  const stops = [
    ...new Set([...ends, ...turnEnds(template, controlTokens).map((token) => tokenizer.id(token))]),
  ];
  if (stops.length === 0)
    throw wrongInput('renderer.no-end', `Policy ${policy} has no token that ends an answer.`, {
      expected:
        'eos_token in tokenizer_config.json, eos_token_id in config.json, or a special token after an answer in the template',
      next: 'Add it to the checkpoint and import it again.',
    });
  return openRenderer({ kind, template, tokenizer, stops, stopStrings: [], controlTokens, vocabSize });
}

/** The ids that tokenizer_config.json and config.json name as end tokens, as far as the tokenizer has them. */
function configuredEnds(
  { eos_token_id: ids }: v.InferOutput<typeof modelConfig>,
  config: TokenizerConfig,
  tokenizer: Tokenizer,
): number[] {
  const listed = ids === null || ids === undefined ? [] : Array.isArray(ids) ? ids : [ids];
  const named = config.eos_token ? [tokenizer.id(config.eos_token)] : [];
  return [...new Set([...named, ...listed.filter((id) => id < tokenizer.vocabSize)])];
}
