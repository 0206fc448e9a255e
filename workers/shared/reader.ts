/** Turns samples into what a reader sees: each is decoded by the tokenizer of the policy that wrote it, and cut by the recipe's reader. */

import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { withImages } from '../../core/images/image-tokenizer.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { type Part, readTags } from '../../core/recipe/reading.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { ReadableSample } from '../../core/schema/answers.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { loadCommitted, type VersionStore } from './committed.ts';

type Description = NonNullable<Recipe['describe']>;

const beginsWith = (ids: TokenIds, start: TokenIds) =>
  start.length <= ids.length && start.every((id, i) => id === ids[i]);

/** What of a prompt came after the role's turn before; the whole prompt where it does not continue that turn. */
export function newIn(prompt: TokenIds, before: { prompt: TokenIds; ids: TokenIds } | undefined): TokenIds {
  if (!before) return prompt;
  const known = [...before.prompt, ...before.ids];
  return beginsWith(prompt, known) ? prompt.slice(known.length) : prompt;
}

export class Reader {
  readonly #store: VersionStore;
  readonly #describe: Description;
  readonly #tokenizers = new Map<string, Promise<Tokenizer | null>>();

  /** `describe`: of the samples' recipe; absent where the mesh does not know it any more. */
  constructor(store: VersionStore, describe: Description = {}) {
    this.#store = store;
    this.#describe = describe;
  }

  parts(role: string, text: string): Part[] {
    return [...(this.#describe.parts ?? ((_: string, of: string) => readTags(of)))(role, text)];
  }

  title(task: string): Part[] {
    return [...(this.#describe.title?.(task) ?? [{ kind: 'text' as const, text: task }])];
  }

  /** `text` is null where the policy has no tokenizer. `before`: the turn before in the same episode. */
  async read(sample: Sample, before?: Sample): Promise<ReadableSample> {
    const tokenizer = await this.tokenizerOf(sample.policy.name);
    if (!tokenizer) return { ...sample, text: null };
    const { role, prompt, ids } = sample;
    const completion = tokenizer.decode(ids);
    return {
      ...sample,
      text: {
        prompt: tokenizer.decode(prompt),
        completion,
        parts: this.parts(role, completion),
        seen: this.parts(role, tokenizer.decode(newIn(prompt, before))),
        tokens: ids.map((id) => tokenizer.decode([id])),
      },
    };
  }

  /** Reads samples; those of one episode stand in the order of their turns. */
  async readAll(samples: readonly Sample[]): Promise<ReadableSample[]> {
    const before = new Map(
      episodesOf(samples).flatMap((turns) => turns.map((turn, i) => [turn, turns[i - 1]] as const)),
    );
    return Promise.all(samples.map((sample) => this.read(sample, before.get(sample))));
  }

  /** What each episode of a group ended at, by the id of its first turn. */
  endings(task: string, samples: readonly ReadableSample[]): Record<string, Part[]> {
    const { ending } = this.#describe;
    if (!ending) return {};
    return Object.fromEntries(
      episodesOf(samples).map((turns) => [
        turns[0]!.id,
        [
          ...ending(
            task,
            turns.map((turn) => (turn as ReadableSample).text?.completion ?? ''),
          ),
        ],
      ]),
    );
  }

  /** A policy keeps the tokenizer that it began with, and version 0 is there even where a later version was pruned. */
  tokenizerOf(name: string): Promise<Tokenizer | null> {
    const opened = this.#tokenizers.get(name) ?? this.#open(name);
    this.#tokenizers.set(name, opened);
    return opened;
  }

  async #open(name: string): Promise<Tokenizer | null> {
    const files = await loadCommitted(this.#store, { name, version: 0 }, ['tokenizer.json']);
    const bytes = files['tokenizer.json'];
    // It is read with, and no policy is asked: whether this one sees does not matter.
    return bytes ? withImages(openTokenizer(JSON.parse(new TextDecoder().decode(bytes))), true) : null;
  }
}
