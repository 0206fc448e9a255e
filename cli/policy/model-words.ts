/** What is said of a checkpoint. */
import { rowOf } from '../../model/architectures.ts';
import { parameterCount } from '../../model/checkpoint.ts';
import { parseConfig } from '../../model/config.ts';
import type { Checkpoint } from './import-checkpoint.ts';

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** What a checkpoint is: "Llama, 156K parameters, 265 tokens, chat template". */
export function modelWords({ files }: Pick<Checkpoint, 'files'>): string {
  const textOf = (file: 'config.json' | 'tokenizer_config.json') =>
    files[file] && new TextDecoder().decode(files[file]);
  const config = parseConfig(JSON.parse(textOf('config.json')!));
  const { chat_template: template } = JSON.parse(textOf('tokenizer_config.json') ?? '{}') as {
    readonly chat_template?: unknown;
  };
  const tokenizer = files['tokenizer.json']
    ? template
      ? 'chat template'
      : 'no chat template'
    : 'no tokenizer';
  return `${rowOf(config.architecture).title}, ${SHORT.format(parameterCount(config))} parameters, ${config.vocabSize} tokens, ${tokenizer}`;
}
