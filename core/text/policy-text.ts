/** Opens a version's tokenizer from its files. */
import { wrongInput } from '../errors.ts';
import { withImages } from '../images/image-tokenizer.ts';
import type { VersionFiles } from '../schema/policy.ts';
import { openTokenizer } from './tokenizer.ts';
import type { Tokenizer } from './tokenizer-port.ts';

const json = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

const sees = (config: Uint8Array | undefined): boolean =>
  config !== undefined && Boolean((json(config) as { readonly vision?: unknown }).vision);

/** Throws `wrong-input` for a version without a tokenizer: such a policy takes token ids only. */
export function tokenizerOf(files: VersionFiles, policy: string): Tokenizer {
  const bytes = files['tokenizer.json'];
  if (bytes) return withImages(openTokenizer(json(bytes)), sees(files['config.json']));
  throw wrongInput('policy.no-tokenizer', `Policy ${policy} has no tokenizer.json.`, {
    next: 'Import it with its tokenizer, or use commands that take token ids.',
  });
}
