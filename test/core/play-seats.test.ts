import { expect, test } from 'vitest';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { playSeats, type SeatsBeginning, type SeatsRules } from '../../core/episodes/play-seats.ts';
import { deriveId } from '../../core/random.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { roundOf } from '../../core/schema/round.ts';
import { ragen } from '../../recipes/ragen/recipe.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';
import { chatOf } from '../recipes/say.ts';

const settings = {
  recipe: 'ragen',
  seed: 0,
  policy: 'p',
  rewardFunction: 'return',
  freeze: [],
  tasks: 1,
  groupSize: 2,
};
const sampling = { maxNew: 12, temperature: 1 };
const recipe = {
  ...ragen,
  roles: { buyer: { description: '', sampling }, seller: { description: '', sampling } },
};

interface Talk {
  readonly said: readonly string[];
}

/** Plays with a policy that answers with the last letter it read, and who it is; records who was asked together. */
function stage<World>(
  rules: SeatsRules<World>,
  worlds: readonly World[],
  {
    contextLength = 256,
    write = (prompt: string) => `${prompt.at(-1)}<eos>`,
    seats = { buyer: 'buyer', seller: 'seller' } as Readonly<Record<string, string>>,
  } = {},
) {
  const tokenizer = textTokenizer();
  const calls: string[] = [];
  const context = openRoundContext({
    recipe,
    round: roundOf(settings, { buyer: {}, seller: { pinned: true } }, 1, 3),
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    contextLength,
    use: (ref, work, role) => {
      calls.push(`${role}@${ref.version}`);
      return work(scriptedPolicy(tokenizer, write));
    },
  });
  const beginnings = worlds.map(
    (world, episode): SeatsBeginning<World> => ({
      seats: Object.fromEntries(
        Object.entries(seats).map(([seat, role]) => [seat, { role, id: rolloutId('group', role, episode) }]),
      ),
      episode,
      world,
    }),
  );
  const text = (ids: readonly number[]) => tokenizer.decode(ids);
  return { played: playSeats(context, beginnings, rules), calls, text };
}

/** Buyer and seller by turns; each reads what the other said since. */
const haggle: SeatsRules<Talk> = {
  maxTurns: 9,
  next: ({ said }) =>
    said.length === 4
      ? []
      : [{ seat: said.length % 2 ? 'seller' : 'buyer', reads: `[${said.at(-1) ?? '?'}]${said.length}` }],
  answer: ({ said }, [written]) => ({ world: { said: [...said, written!.text[0]!] }, outcomes: ['ok'] }),
};

test('each seat has its own history, version and chain of turns, and the turns are numbered over the episode', async () => {
  const { played, calls, text } = stage(haggle, [{ said: [] }]);
  const [{ turns, world, ended }] = (await played) as [Awaited<typeof played>[0]];
  expect(ended).toBe('over');
  expect(world.said).toEqual(['0', '1', '2', '3']);
  expect(turns.map(({ role, turn }) => [role, turn])).toEqual([
    ['buyer', 0],
    ['seller', 1],
    ['buyer', 2],
    ['seller', 3],
  ]);
  // What the other said comes by what is read, never as a token of one's own history.
  expect(turns.map(({ prompt }) => text(prompt))).toEqual([
    '[?]0',
    '[0]1',
    '[?]00<eos>[1]2',
    '[0]11<eos>[2]3',
  ]);
  expect(calls).toEqual(['buyer@3', 'seller@0', 'buyer@3', 'seller@0']);
  expect(turns.map(({ policy }) => policy.version)).toEqual([3, 0, 3, 0]);
  expect(episodesOf(turns).map((chain) => chain.map(({ turn }) => turn))).toEqual([
    [0, 2],
    [1, 3],
  ]);
  expect(turns.every(({ episode }) => episode === 0)).toBe(true);
  expect(turns[2]!.id).toBe(deriveId(rolloutId('group', 'buyer', 0), 'turn', 2));
});

test('seats that write at once do not read each other, and their texts come to the world together', async () => {
  const heard: string[][] = [];
  const { played, text } = stage<number>(
    {
      maxTurns: 4,
      next: (round) =>
        round === 2
          ? []
          : ['buyer', 'seller'].map((seat) => ({ seat, reads: `${seat[0]}${round}`, anew: true })),
      answer: (round, texts) => {
        heard.push(texts.map((one) => `${one.seat} ${one.text}`));
        return { world: round + 1, outcomes: ['ok', 'off-grammar'] };
      },
    },
    [0],
  );
  const [{ turns }] = (await played) as [Awaited<typeof played>[0]];
  expect(heard).toEqual([
    ['buyer 0<eos>', 'seller 0<eos>'],
    ['buyer 1<eos>', 'seller 1<eos>'],
  ]);
  // `anew`: a seat reads this alone.
  expect(turns.map(({ prompt }) => text(prompt))).toEqual(['b0', 's0', 'b1', 's1']);
  expect(turns.map(({ turn, outcome }) => [turn, outcome])).toEqual([
    [0, 'ok'],
    [1, 'off-grammar'],
    [2, 'ok'],
    [3, 'off-grammar'],
  ]);
});

test('an episode that its world does not end, ends at its turns, at its tokens, or where a history leaves no room', async () => {
  const endless: SeatsRules<Talk> = {
    ...haggle,
    maxTurns: 3,
    next: ({ said }) => [{ seat: said.length % 2 ? 'seller' : 'buyer', reads: '....5' }],
  };
  const how = async (rules: SeatsRules<Talk>, contextLength = 256) => {
    const [played] = await stage(rules, [{ said: [] }], { contextLength }).played;
    return [played!.turns.length, played!.ended];
  };
  expect(await how(endless)).toEqual([3, 'turns']);
  // A turn may take 12 tokens and takes 2: the first fits into 25, the second (2 + 12), and the third not into 15.
  expect(await how({ ...endless, maxTokens: 15 })).toEqual([2, 'tokens']);
  // The buyer's second prompt has 5 + 2 + 5 tokens, and 12 more do not fit into 23.
  expect(await how(endless, 23)).toEqual([2, 'no-room']);
});

test('an episode gets the same turns alone as beside others', async () => {
  const write = (prompt: string) => `${prompt.length % 10}<eos>`;
  const both = await stage(haggle, [{ said: [] }, { said: ['7'] }], { write }).played;
  const [alone] = await stage(haggle, [{ said: [] }], { write }).played;
  expect(alone!.turns.map(({ id, ids }) => [id, ids.length])).toEqual(
    both[0]!.turns.map(({ id, ids }) => [id, ids.length]),
  );
});

test.each([
  ['a seat that nobody holds', ['banker'], /Nobody holds the seat "banker".* one of buyer, seller/],
  ['a seat that is to write twice at once', ['buyer', 'buyer'], /"buyer" is to write twice at once/],
])('%s is an error that names it', async (_, movers, message) => {
  const { played } = stage<number>(
    {
      maxTurns: 4,
      next: () => movers.map((seat) => ({ seat, reads: 'x' })),
      answer: (world) => ({ world, outcomes: ['ok'] }),
    },
    [0],
  );
  await expect(played).rejects.toThrow(message);
  await expect(played).rejects.toMatchObject({ code: 'episode.seat', kind: 'give-up' });
});

test('a seat that is asked in messages goes on by the chat template, and its own tokens are kept as they were sampled', async () => {
  const text = chatOf(512);
  const { stop: _, ...ofMessages } = recipe;
  const context = openRoundContext({
    ...text,
    recipe: ofMessages,
    round: roundOf(settings, { buyer: {}, seller: {} }, 1, 3),
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(scriptedPolicy(text.tokenizer, (prompt) => `${prompt.length % 7}<|im_end|>`)),
  });
  const say = (content: string) => [{ role: 'user' as const, content }];
  const [played] = await playSeats(
    context,
    [{ seats: { buyer: { role: 'buyer', id: 'b' }, seller: { role: 'seller', id: 's' } }, world: 0 }],
    {
      maxTurns: 4,
      next: (turn) =>
        turn === 4 ? [] : [{ seat: turn % 2 ? 'seller' : 'buyer', reads: say(`turn ${turn}`) }],
      answer: (turn) => ({ world: turn + 1, outcomes: ['ok'] }),
    },
  );
  const [first, , third] = played!.turns;
  const before = [...first!.prompt, ...first!.ids];
  expect(third!.prompt.slice(0, before.length)).toEqual(before);
  const prompt = text.tokenizer.decode(third!.prompt);
  expect(prompt).toContain('turn 2');
  expect(prompt.match(/<\|im_start\|>assistant/g)).toHaveLength(2);
  // The other seat's turns are not in its prompt.
  expect(prompt).not.toContain('turn 1');
});

test('a turn that its stop token did not end is cut off, whatever the world says of it', async () => {
  const { played } = stage(haggle, [{ said: [] }], {
    write: (prompt) => (prompt.endsWith('2') ? '2'.repeat(12) : `${prompt.at(-1)}<eos>`),
  });
  const [{ turns }] = (await played) as [Awaited<typeof played>[0]];
  expect(turns.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'cut-off', 'ok']);
});
