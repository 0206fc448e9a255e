/** What the bench of a mixed run says of a run: each one's part by hand, and that every way in which a run may be wrong is told. */
import { expect, test } from 'vitest';
import { checksOf, differingVersions, partsOf, type StoredPart } from './mixed/parts.ts';

type Work = StoredPart['work'][number];
const TAB = '1'.repeat(32);
const PROCESS = '2'.repeat(32);
const [ONE, TWO] = ['a'.repeat(32), 'b'.repeat(32)] as const;

const answered = (node: string, group: string | null, samples: readonly string[]) =>
  ({ node, group, samples }) as unknown as Work;
const share = (node: string | null, requests: number, samples: number) => ({
  node,
  name: node,
  requests,
  samples,
  leased: 0,
  versions: [],
});
const group = (id: string) => ({ group: id, state: 'trained' as const, failure: null });
const file = (sha256: string) => ({ sha256: sha256.repeat(64), bytes: 1 });

/** The tab proposed, once more than was needed, and solved group one, the process solved group two, isolates judged both. */
const round = (): StoredPart => ({
  sampled: [
    { id: 'p1', group: null, tokens: 5 },
    { id: 's1', group: ONE, tokens: 10 },
    { id: 's2', group: ONE, tokens: 20 },
    { id: 's3', group: TWO, tokens: 30 },
    { id: 'j1', group: ONE, tokens: 7 },
    { id: 'j2', group: TWO, tokens: 8 },
  ],
  work: [answered(TAB, null, ['p1', 'p2']), answered(TAB, ONE, ['s1', 's2']), answered(PROCESS, TWO, ['s3'])],
  shares: [share(TAB, 2, 4), share(PROCESS, 1, 1), share(null, 2, 2)],
  groups: [group(ONE), group(TWO)],
  manifest: { files: { 'model.safetensors': file('c') }, audit: { fraction: 1, drawSeed: 'x' } },
  damage: [],
});
const alone = (): StoredPart => ({ ...round(), work: [], shares: [] });
type Node = Parameters<typeof partsOf>[1][number];
const nodes = (): Node[] => [
  { id: PROCESS, kind: 'process', audited: 1, reason: null, requests: 1, samples: 1 },
  { id: TAB, kind: 'tab', audited: 2, reason: null, requests: 2, samples: 4 },
];

test('each one’s share, groups and audits are counted from the records', () => {
  expect(partsOf([round()], nodes())).toEqual([
    {
      host: 'tab',
      requests: 2,
      samples: 3,
      tokens: 35,
      groups: 1,
      shareOfRequests: 2 / 5,
      shareOfTokens: 35 / 80,
      audited: { groups: 1, right: 1, refused: 0 },
      node: { requestsRight: 2, shutOut: null },
    },
    {
      host: 'process',
      requests: 1,
      samples: 1,
      tokens: 30,
      groups: 1,
      shareOfRequests: 1 / 5,
      shareOfTokens: 30 / 80,
      audited: { groups: 1, right: 1, refused: 0 },
      node: { requestsRight: 1, shutOut: null },
    },
    {
      host: 'isolates',
      requests: 2,
      samples: 2,
      tokens: 15,
      groups: 2,
      shareOfRequests: 2 / 5,
      shareOfTokens: 15 / 80,
      audited: { groups: 2, right: 2, refused: 0 },
    },
  ]);
});

test('a group that the audit refused counts for everybody who had a part in it', () => {
  const failure = { kind: 'give-up', code: 'audit.token', message: 'Another token.' };
  const refused = { ...round(), groups: [group(ONE), { group: TWO, state: 'failed' as const, failure }] };
  const audited = Object.fromEntries(partsOf([refused], nodes()).map((part) => [part.host, part.audited]));
  expect(audited).toEqual({
    tab: { groups: 1, right: 1, refused: 0 },
    process: { groups: 1, right: 0, refused: 1 },
    isolates: { groups: 2, right: 1, refused: 1 },
  });
});

test('versions differ where a file has other bytes, is missing or is not there at all', () => {
  const of = (files: StoredPart['manifest']['files']) => ({ files });
  const [a, b] = [file('a'), file('b')];
  const mixed = [of({ 'model.safetensors': a, 'config.json': b }), of({ 'model.safetensors': a }), of({})];
  expect(differingVersions(mixed, mixed)).toEqual([]);
  expect(
    differingVersions(mixed, [
      of({ 'config.json': b, 'model.safetensors': a }),
      of({ 'model.safetensors': b }),
    ]),
  ).toEqual([2, 3]);
  expect(differingVersions([of({})], [of({ 'config.json': a })])).toEqual([1]);
});

type Scene = {
  rounds: StoredPart[];
  nodes: Node[];
  onTheTab: number;
  alone: StoredPart[];
};
const wrongOf = ({ rounds, nodes, onTheTab, alone }: Scene) =>
  checksOf(rounds, partsOf(rounds, nodes), nodes, onTheTab, alone).flatMap(({ what, right }) =>
    right ? [] : [what],
  );
const scene = (): Scene => ({ rounds: [round()], nodes: nodes(), onTheTab: 4, alone: [alone()] });

test('nothing is wrong with a run that is as it must be', () => {
  expect(wrongOf(scene())).toEqual([]);
});

const audited = (fraction: number): Partial<StoredPart> => ({
  manifest: { ...round().manifest, audit: { fraction, drawSeed: 'x' } },
});
const withNode = (at: number, change: Partial<Node>) =>
  nodes().map((node, i) => (i === at ? { ...node, ...change } : node));

test.each<[string, Partial<Scene>, RegExp[]]>([
  [
    'other weights',
    {
      alone: [{ ...alone(), manifest: { ...alone().manifest, files: { 'model.safetensors': file('d') } } }],
    },
    [/the bytes of the run by isolates alone/],
  ],
  ['a round fewer', { alone: [] }, [/the bytes of the run by isolates alone/]],
  ['a node in the other run', { alone: [round()] }, [/no node had a part/]],
  ['a round that was audited by a share', { rounds: [{ ...round(), ...audited(0.5) }] }, [/in full/]],
  ['a request that was not found right', { nodes: withNode(1, { audited: 1 }) }, [/found right/]],
  ['a node that was shut out', { nodes: withNode(0, { reason: 'audit.token' }) }, [/found right/]],
  [
    'a group that was lost',
    { rounds: [{ ...round(), groups: [group(ONE), { ...group(TWO), state: 'failed' }] }] },
    [/refused or lost/],
  ],
  ['a broken seal', { rounds: [{ ...round(), damage: ['The seal does not fit.'] }] }, [/seals/]],
  ['another count on the tab', { onTheTab: 5 }, [/have counted/]],
  ['another count of a node', { nodes: withNode(0, { samples: 2 }) }, [/have counted/]],
  [
    'fewer completions of the isolates than are recorded',
    { rounds: [{ ...round(), shares: [share(TAB, 2, 4), share(PROCESS, 1, 1), share(null, 2, 1)] }] },
    [/have counted/],
  ],
  [
    'an answer of a node that is not in its group',
    { rounds: [{ ...round(), sampled: round().sampled.filter(({ id }) => id !== 's2') }] },
    [/have counted/],
  ],
  [
    'isolates that sampled nothing',
    {
      rounds: [
        {
          ...round(),
          sampled: round().sampled.slice(0, 4),
          shares: [share(TAB, 2, 4), share(PROCESS, 1, 1)],
        },
      ],
    },
    [/each sampled some/],
  ],
  ['two processes', { nodes: withNode(1, { kind: 'process' }) }, [/one a process/, /each sampled/]],
])('%s is told', (_, change, found) => {
  const wrong = wrongOf({ ...scene(), ...change });
  expect(wrong).toHaveLength(found.length);
  for (const [i, what] of found.entries()) expect(wrong[i]).toMatch(what);
});
