/** Opens a version's tokenizer from its files. */
import { wrongInput } from '../errors.ts';
import type { VersionFiles } from '../schema/policy.ts';
import { openTokenizer } from './tokenizer.ts';
import type { Tokenizer } from './tokenizer-port.ts';

/** Throws `wrong-input` for a version without a tokenizer: such a policy takes token ids only. */
export function tokenizerOf(files: VersionFiles, policy: string): Tokenizer {
  const bytes = files['tokenizer.json'];
  if (bytes) return openTokenizer(JSON.parse(new TextDecoder().decode(bytes)));
  throw wrongInput('policy.no-tokenizer', `Policy ${policy} has no tokenizer.json.`, {
    next: 'Import it with its tokenizer, or use commands that take token ids.',
  });
}
