/** How a policy reads and writes text, from a version's files: the part of a round context that is about text. */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { LONGEST_CONTEXT } from '../policy/policy.ts';
import type { VersionFile, VersionFiles } from '../schema/policy.ts';
import { tokenizerOf } from '../text/policy-text.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import { rendererOf } from './open.ts';
import type { Renderer } from './renderer.ts';

export interface PolicyText {
  readonly tokenizer: Tokenizer;
  /** The renderer, for recipes that prompt with messages. It is opened at the first call: other recipes' policies may have no template. */
  readonly renderer: () => Renderer;
  /** The most tokens that a sequence of a round may have, prompt included: what the model was made for, within LONGEST_CONTEXT. */
  readonly contextLength: number;
}

/** The text of a policy by its own files. */
export interface OwnText extends PolicyText {
  /** The most tokens that a sequence may have, prompt included: what the model was made for. */
  readonly positions: number;
}

const positions = v.looseObject({ max_position_embeddings: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/** The most tokens that a sequence may have, by a policy's config.json. */
export function positionsOf(config: Uint8Array | undefined, policy: string): number {
  if (!config) throw wrongInput('policy.no-config', `Policy ${policy} has no config.json.`);
  const { max_position_embeddings } = v.parse(positions, JSON.parse(new TextDecoder().decode(config)));
  return max_position_embeddings;
}

/** The files of a version that say how it reads and writes. */
export const TEXT_FILES: readonly VersionFile[] = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

/** Throws `wrong-input` for a version without a tokenizer; `renderer` throws as `rendererOf`. */
export function textOf(files: VersionFiles, policy: string): OwnText {
  let renderer: Renderer | undefined;
  const longest = positionsOf(files['config.json'], policy);
  return {
    tokenizer: tokenizerOf(files, policy),
    positions: longest,
    contextLength: Math.min(longest, LONGEST_CONTEXT),
    renderer: () => {
      renderer ??= rendererOf(files, policy);
      return renderer;
    },
  };
}
