/** A round that cannot be trained, above all because its parent version cannot be read: it is tried again, and given up after some attempts. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import type { RoundState } from '../../core/schema/answers.ts';
import { keys, type ScoredMessage } from '../../core/schema/round.ts';
import { type AuditSettings, openAudit } from '../../learner/loop/auditor.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import type { MeshGateway } from '../../learner/loop/ports.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import { type HonestRound, playHonestRound } from '../trust/honest-round.ts';

let honest: HonestRound;
beforeAll(async () => {
  honest = await playHonestRound(1, 2, 2);
});

const hash = new RollmeshError('give-up', 'object.hash', 'The object optimizer.safetensors has other bytes.');
const gone = new RollmeshError('missing-version', 'object.unknown', 'There is no object manifest.json.');
const away = new RollmeshError('retry', 'gateway.unreachable', 'The gateway does not answer.');
const refused = new RollmeshError('wrong-input', 'token.wrong', 'This needs the learner’s token.');

/** The honest round as messages, and a gateway that has its records but whose `getVersion` throws. */
function meshWith(thrown: Error) {
  const { record } = honest;
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const bytesOf = new Map([[keys.proposals(record.round.id), encode(record.proposals)]]);
  for (const group of record.groups) bytesOf.set(keys.scored(record.round.id, group.group), encode(group));
  const messages = record.groups.map(({ group, index }) => {
    const key = keys.scored(record.round.id, group);
    return {
      v: 1 as const,
      round: record.round.id,
      group,
      index,
      key,
      sha256: sha256Hex(bytesOf.get(key)!),
      mac: '0'.repeat(64),
    };
  });
  const listed = record.groups.map(({ group, index, task }, i) => ({
    group,
    index,
    task,
    state: 'scored' as const,
    sha256: messages[i]!.sha256,
    mac: null,
    failure: null,
  }));
  const failed: string[] = [];
  const gateway = {
    getPolicy: async () => ({ name: record.round.settings.policy, current: 0, next: 1, versions: [] }),
    getObject: async (key: string) => bytesOf.get(key)!,
    getVersion: () => Promise.reject(thrown),
    getRoundWork: async () => ({ nodes: [], work: [] }),
    failGroup: async (_: string, group: string) => void failed.push(group),
  };
  const round = {
    id: record.round.id,
    spec: record.round,
    state: 'training',
    proposalsSha256: null,
    manifests: {},
  } as RoundState;
  return { gateway, round, listed, messages, failed };
}

const SETTINGS = { recipes: shipped, maxStaleness: 2, leaseMs: 1, longestIdleMs: 1, device: 'test' };

/** Trains the honest round where `getVersion` throws. */
async function trainWith(thrown: Error, more: { readonly audit?: AuditSettings } = {}) {
  const { gateway, round, listed, messages, failed } = meshWith(thrown);
  // The other calls come after the version was loaded.
  const outcome = trainRound(gateway as never, new RoundTrainer(), round, listed, messages, {
    ...SETTINGS,
    ...more,
  });
  const error: unknown = await outcome.then(
    () => 'trained',
    (reason: unknown) => reason,
  );
  return { error, failed };
}

test.each([
  ['damaged', hash],
  ['gone', gone],
  ['kept from us', refused],
  ['with a manifest that is none', new SyntaxError('Unexpected token'), 'manifest.json'],
  ['cut off', new TypeError('terminated'), 'ends before it should'],
])('one that is %s is a retry of the round', async (_, thrown, why = '') => {
  const { error, failed } = await trainWith(thrown);
  expect(error).toMatchObject({ kind: 'retry', code: 'version.unreadable' });
  expect(String(error)).toContain('rollback trio-11');
  expect(String(error)).toContain(why);
  expect(failed).toEqual([]);
});

test('the audit, which reads it first, makes it a retry as well', async () => {
  const { error, failed } = await trainWith(hash, { audit: openAudit(1) });
  expect(error).toMatchObject({ kind: 'retry', code: 'version.unreadable' });
  expect(failed).toEqual([]);
});

test('a gateway that is away stays what it is', async () => {
  const { error, failed } = await trainWith(away);
  expect(error).toBe(away);
  expect(failed).toEqual([]);
});

/**
 * Runs the learner's loop on the honest round where `getVersion` throws, beside another round that is done, until it logs `last` or ends.
 * The pauses between its attempts take no time. `arriving`: what the queue makes of each message. `also`: what the gateway answers otherwise.
 */
async function learnUntil(
  last: string,
  thrown: () => Error,
  arriving: (message: ScoredMessage) => ScoredMessage = (message) => message,
  also: Partial<MeshGateway> = {},
) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { gateway, round, listed, messages, failed } = meshWith(hash);
  const other = { ...messages[0]!, round: 'f'.repeat(32) };
  const stop = new AbortController();
  const acknowledged: string[] = [];
  const events: string[] = [];
  const ended: unknown[] = [];
  let pulls = [[...messages, other].map(arriving)];
  const learning = runLearner(
    {
      gateway: {
        ...gateway,
        getVersion: () => Promise.reject(thrown()),
        getRound: async (id: string) => (id === round.id ? round : { ...round, id, state: 'done' }),
        getGroups: async () => listed,
        failRound: async (_: string, why: unknown) => void ended.push(why),
        ...also,
      } as never,
      queue: {
        pull: async () => {
          const [bodies = []] = pulls;
          pulls = [];
          const pulled = bodies.map((body, i) => ({ id: String(i), body, lease: `lease-${i}`, attempts: 1 }));
          return { messages: pulled.map((one) => ({ ...one, sentAt: new Date() })), backlog: 0 };
        },
        ack: async (leases: readonly string[]) => void acknowledged.push(...leases),
        retry: async () => {},
      },
      trainer: new RoundTrainer(),
      log: (event, { code }) => {
        events.push(code ? `${event} ${code}` : event);
        if (events.at(-1) === last || events.length > 40) stop.abort();
      },
    },
    SETTINGS,
    stop.signal,
  );
  let running = true;
  void learning.finally(() => {
    running = false;
  });
  while (running) {
    await vi.advanceTimersByTimeAsync(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { events, acknowledged, ended, failed, others: messages.length };
}
afterEach(() => {
  vi.useRealTimers();
});

describe('attempts at a round', () => {
  const trouble = (code: string, times: number) => Array<string>(times).fill(`learner.trouble ${code}`);

  test('whose version cannot be read are five, and keep no other round waiting', async () => {
    const { events, acknowledged, ended, failed, others } = await learnUntil(
      'round.failed version.unreadable',
      () => hash,
    );
    expect(events).toEqual([
      'round.dropped',
      ...trouble('version.unreadable', 4),
      'round.failed version.unreadable',
    ]);
    expect(acknowledged[0]).toBe(`lease-${others}`);
    expect(acknowledged).toHaveLength(others + 1);
    expect(ended).toEqual([
      {
        kind: 'retry',
        code: 'version.unreadable',
        attempts: 5,
        message: expect.stringContaining('optimizer.safetensors'),
      },
    ]);
    // The groups stay as they are, to be trained when the round is replayed.
    expect(failed).toEqual([]);
  });

  test('which the mesh fails to answer are ten', async () => {
    const busy = new RollmeshError('retry', 'gateway.failed', 'GET /x: 500.');
    const { events, ended } = await learnUntil('round.failed gateway.failed', () => busy);
    expect(events.slice(1)).toEqual([...trouble('gateway.failed', 9), 'round.failed gateway.failed']);
    expect(ended).toMatchObject([{ attempts: 10 }]);
  });

  test('do not count while the gateway is away', async () => {
    let tries = 0;
    const { events } = await learnUntil('round.failed version.unreadable', () =>
      ++tries <= 20 ? away : hash,
    );
    expect(events.filter((event) => event !== 'round.dropped')).toEqual([
      ...trouble('gateway.unreachable', 20),
      ...trouble('version.unreadable', 4),
      'round.failed version.unreadable',
    ]);
  });
});

describe('a round that the mesh does not know', () => {
  const unknown = new RollmeshError('give-up', 'round.unknown', 'There is no round.');
  const beside = async (id: string) => {
    if (id === honest.record.round.id) throw unknown;
    return { id, state: 'done' } as RoundState;
  };

  test('is dropped with its messages', async () => {
    const { events, acknowledged, ended, others } = await learnUntil('round.dropped', () => hash, undefined, {
      getRound: beside,
    });
    expect(events).toEqual(['round.dropped', 'round.dropped']);
    expect(acknowledged).toEqual(Array.from({ length: others + 1 }, (_, i) => `lease-${i}`));
    expect(ended).toEqual([]);
  });

  test('and one that cannot be given up keep no other round waiting', async () => {
    let asked = 0;
    // The other round ends after the first one was to be given up.
    const later = async (id: string) => ({ id, state: ++asked > 6 ? 'done' : 'rollout' }) as RoundState;
    const { events } = await learnUntil('round.dropped', () => hash, undefined, {
      getRound: (id) => (id === honest.record.round.id ? Promise.reject(new Error('torn')) : later(id)),
      failRound: () => Promise.reject(unknown),
    });
    expect(events).toContain('learner.trouble round.unknown');
    expect(events).toContain('round.dropped');
  });
});

test('a message announces its group; hash and seal are the database’s, so that one from elsewhere refuses no group', async () => {
  const { events, failed } = await learnUntil(
    'round.failed version.unreadable',
    () => hash,
    (message) => ({ ...message, sha256: 'f'.repeat(64), mac: 'e'.repeat(64) }),
  );
  expect(events.at(-1)).toBe('round.failed version.unreadable');
  expect(failed).toEqual([]);
});

test('a learner whose own settings are wrong ends, and gives up no round', async () => {
  const unknown = new RollmeshError('wrong-input', 'recipe.unknown', 'There is no recipe "x".');
  const learning = runLearner(
    {
      gateway: {} as never,
      queue: { pull: () => Promise.reject(unknown), ack: async () => {}, retry: async () => {} },
      trainer: new RoundTrainer(),
      log: () => {},
    },
    SETTINGS,
    new AbortController().signal,
  );
  await expect(learning).rejects.toBe(unknown);
});
