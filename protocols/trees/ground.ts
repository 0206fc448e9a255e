/** What trees grow over: an answer by its steps, or an episode by its turns. */
import type { PlaySettings } from '../../core/episodes/play-episodes.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { Ground } from './grow.ts';

/** Tokens of a step at most, where nothing ends it before. */
export const STEP_TOKENS = 48;

const stops = new WeakMap<Pick<Tokenizer, 'bytes'>, Map<string, readonly number[]>>();

/** The tokens of a vocabulary that hold a text, such as a line break: a step ends with any of them. The tokens of one vocabulary are looked for once. */
export function tokensWith(
  tokenizer: Pick<Tokenizer, 'bytes' | 'vocabSize'>,
  text: string,
): readonly number[] {
  const of = stops.get(tokenizer) ?? new Map<string, readonly number[]>();
  stops.set(tokenizer, of);
  const known = of.get(text);
  if (known) return known;
  const characters = (bytes: Uint8Array) => String.fromCharCode(...bytes);
  const wanted = characters(new TextEncoder().encode(text));
  const found: number[] = [];
  for (let id = 0; id < tokenizer.vocabSize; id++)
    if (characters(tokenizer.bytes(id)).includes(wanted)) found.push(id);
  of.set(text, found);
  return found;
}

/** An answer of at most `maxNew` tokens, in steps of at most `step`. `isEnded`: whether the tokens after a prompt end an answer. */
export const answerGround = ({
  maxNew,
  step = STEP_TOKENS,
  isEnded,
}: {
  readonly maxNew: number;
  readonly step?: number;
  readonly isEnded: (prompt: TokenIds, ids: TokenIds) => boolean;
}): Ground<null> => ({
  room: ({ ids }) => Math.min(step, maxNew - ids.length),
  after: (world, _step, ids, { prompt }) => ({
    world,
    reads: [],
    standing: isEnded(prompt, ids) ? 'ended' : 'open',
  }),
});

/** An episode whose turns have at most `maxNew` tokens each; a turn that is cut off leads nowhere. */
export const turnGround = <World>(
  { contextLength, tokenizer }: { readonly contextLength: number; readonly tokenizer: Tokenizer },
  { maxTurns, answer }: Pick<PlaySettings<World>, 'maxTurns' | 'answer'>,
  maxNew: number,
): Ground<World> => ({
  room: ({ ids, depth }, { prompt }) =>
    depth < maxTurns && prompt.length + ids.length + maxNew <= contextLength ? maxNew : 0,
  after: (before, { ids, stopped }) => {
    if (!stopped) return { world: before, reads: [], standing: 'lost' };
    const { world, reply } = answer(before, tokenizer.decode(ids));
    return {
      world,
      reads: reply === null ? [] : tokenizer.encode(reply),
      standing: reply === null ? 'ended' : 'open',
    };
  },
});
