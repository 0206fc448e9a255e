/**
 * A gateway's reading API from memory, and the page's files under the real content security policy. For the page's
 * tests only: its figures are drawn, not learned, and its texts are as hostile as a model could write them.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { deriveId, Random } from '../../core/random.ts';
import type { EvaluationReport, RoundReport } from '../../core/schema/report.ts';
import { type RunSettings, runIdOf } from '../../core/schema/round.ts';
import { arithmetic, runningTotals, writeJudgment, writeSolution } from '../../core/tasks/arithmetic.ts';

const PAGE = new URL('../../dashboard/', import.meta.url).pathname;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** A fixed moment, so that pictures can be compared. */
const BEGAN = Date.UTC(2026, 4, 4, 9, 30);

export const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&amp;';

/** From a to b, fast first, with a little noise. */
function course(random: Random, from: number, to: number, share: number, noise = 0.02) {
  return from + (to - from) * (1 - Math.exp(-4 * share)) + noise * (random.float() - 0.5);
}

function evaluationAt(random: Random, version: number, share: number, best: number): EvaluationReport {
  return {
    version,
    heldOut: {
      n: 500,
      accuracy: course(random, 0.342, best, share),
      sampled: course(random, 0.36, 0.52, share),
      forcedWorked: course(random, 0.704, 0.73, share),
      worked: course(random, 0.44, 0.93, share),
      formatRate: 1,
    },
    judge: { fixed: course(random, 0.62, 0.74, share), own: course(random, 0.6, 0.71, share) },
  };
}

function reportAt(random: Random, index: number, rounds: number, best: number): RoundReport {
  const share = index / rounds;
  const reward = course(random, 0.4, 0.62, share, 0.05);
  const gold = course(random, 0.38, 0.55, share, 0.05);
  const role = (kl: number, entropy: number, samples: number) => ({
    samples,
    tokens: samples * 11,
    entropy: course(random, entropy, entropy * 0.6, share, 0.03),
    klToStart: course(random, 0, kl, share, 0.002),
  });
  return {
    monitors: {
      groups: 64,
      rollouts: 512,
      reward,
      gold,
      gap: reward - gold,
      formatRate: 0.99,
      workedShare: course(random, 0.44, 0.91, share),
      length: 12.4,
      zeroVariance: course(random, 0.1, 0.2, share),
      missingRewards: 0,
      proposals: 81,
      invalidRate: 0.04,
      duplicateRate: course(random, 0.1, 0.16, share),
      difficulty: course(random, 2.5, 3.9, share, 0.2),
      passRate: course(random, 0.42, 0.5, share, 0.1),
      judge: { rightAsRight: 201, rightAsWrong: 52, wrongAsRight: 77, wrongAsWrong: 179, void: 3 },
      judgeBalancedAccuracy: course(random, 0.6, 0.72, share, 0.04),
      tokens: 9120,
    },
    training: {
      roles: {
        proposer: role(0.05, 1.4, 81),
        solver: role(0.03, 0.6, 512),
        judge: role(0.02, 0.5, 256),
      },
      tokens: 16_480,
      updates: 4,
      loss: -0.0021,
      gradientNorm: course(random, 1.4, 0.7, share, 0.3),
      clipFraction: 0.012,
      learningRate: 1e-4,
      mismatch: { max: 2.1e-5, mean: 1.3e-6, kl: 4e-12 },
      ratio: { min: 0.9999, max: 1.0001, effectiveSampleShare: 1 },
    },
    ...(index % 5 === 0 || index === rounds ? { evaluation: evaluationAt(random, index, share, best) } : {}),
    ...(index === 1 ? { start: evaluationAt(random, 0, 0, best) } : {}),
    warnings: index === 7 ? ['53 % of the proposals repeat a task of the round', HOSTILE] : [],
    rolloutMs: 1130,
    learnerMs: 780,
  };
}

export interface FakeMesh {
  readonly url: string;
  /** Requests so far, by path without its query. */
  readonly requests: Map<string, number>;
  /** Plays the open round to its end and opens the next. */
  advance(): void;
  /** Answers every question of the API with this status until told otherwise; null = as usual. */
  failWith(status: number | null): void;
  close(): Promise<void>;
}

const trained: RunSettings = {
  recipe: 'trio',
  seed: 0,
  policy: 'trio-0',
  reward: 'mix',
  freeze: [],
  tasks: 64,
  group: 8,
};

const frozen: RunSettings = { ...trained, policy: 'trio-1', reward: 'judge', freeze: ['judge'] };

const ref = (version: number) => ({ name: 'trio-0', version });

/** One run; its greedy accuracy ends at `best`. */
class Run {
  readonly id: string;
  readonly settings: RunSettings;
  readonly target: number;
  readonly best: number;
  done: number;

  constructor(settings: RunSettings, done: number, target: number, best: number) {
    this.id = runIdOf(settings);
    this.settings = settings;
    this.done = done;
    this.target = target;
    this.best = best;
  }

  view() {
    const { id, settings, target } = this;
    return { id, settings, target, state: 'open', createdAt: BEGAN };
  }

  round(index: number) {
    const open = index > this.done;
    const random = new Random(`fake/${this.id}/${index}`);
    return {
      id: deriveId('round', this.id, index),
      run: this.id,
      index,
      recipe: 'trio',
      stage: open ? 'solving' : 'done',
      expected: 64,
      proposed: 81,
      groups: open
        ? { rolling: 23, scored: 41, trained: 0, failed: 0 }
        : { rolling: 0, scored: 0, trained: index === 9 ? 62 : 64, failed: index === 9 ? 2 : 0 },
      reason: null,
      roles: { proposer: ref(index - 1), solver: ref(index - 1), judge: ref(index - 1) },
      version: open ? null : index,
      report: open ? null : reportAt(random, index, this.target, this.best),
      createdAt: open ? Date.now() - 1900 : BEGAN + 2400 * index,
      solvingAt: BEGAN + 2400 * index + 300,
      trainingAt: open ? null : BEGAN + 2400 * index + 1300,
      endedAt: open ? null : BEGAN + 2400 * index + 2300,
    };
  }

  /** Newest first, as the gateway lists them. */
  rounds(limit: number, before = Number.POSITIVE_INFINITY) {
    const last = Math.min(this.done + (this.done < this.target ? 1 : 0), before - 1);
    return Array.from({ length: Math.max(0, Math.min(limit, last)) }, (_, i) => this.round(last - i));
  }
}

/** Of any round: 64 tasks; the first one's task and texts are hostile, the second failed. */
function groupsOf(round: string) {
  return Array.from({ length: 64 }, (_, index) => {
    const random = new Random(`fake/${round}/${index}`);
    const failed = index === 1;
    return {
      group: deriveId(round, 'group', index),
      index,
      task: index === 0 ? HOSTILE : arithmetic.random(random),
      state: failed ? 'failed' : 'trained',
      sha256: null,
      failure: failed
        ? { kind: 'give-up', code: 'object.damaged', message: `The object cannot be read: ${HOSTILE}` }
        : null,
    };
  });
}

function groupOf(round: string, id: string) {
  const group = groupsOf(round).find((candidate) => candidate.group === id);
  if (!group) return null;
  if (group.state === 'failed') return { ...group, samples: null, judgments: null, gold: null, truth: null };
  const samples = Array.from({ length: trained.group }, (_, i) => sampleOf(group.task, id, i));
  return {
    ...group,
    samples: samples.map(({ sample }) => sample),
    judgments: samples.flatMap(({ judgments }) => judgments),
    gold: samples.map(({ gold }) => gold),
    truth: samples.map(({ truth }) => truth),
  };
}

/** Solution i of a task: 0 worked and right, 1 with a wrong step, 2 terse and wrong, 3 hostile, then more of the kind. */
function sampleOf(task: string, group: string, i: number) {
  const id = deriveId(group, 'solver', i);
  const record = (role: string, of: string, text: string, outcome: string, rewards: object) => ({
    id: of,
    role,
    policy: ref(1),
    prompt: [3],
    ids: [1, 2],
    logprobs: [-0.1, -0.2],
    stopped: true,
    outcome,
    rewards,
    text: { prompt: task, completion: text },
  });
  if (task === HOSTILE || i % 4 === 3)
    return {
      sample: record('solver', id, HOSTILE, 'off-grammar', { reward: 0, passed: 0 }),
      judgments: [],
      gold: null,
      truth: null,
    };
  const totals = runningTotals(task);
  const kind = i % 4;
  const steps = kind === 2 ? [] : totals.map((total, at) => String(kind === 1 && at > 0 ? total + 2 : total));
  const answer = kind === 2 ? String(totals.at(-1)! + 1) : (steps.at(-1) ?? '0');
  const solution = { steps, answer };
  const truth = arithmetic.truth(task, solution);
  const verdict = writeJudgment(i === 5 ? { steps: steps.map(() => true), right: true } : truth);
  const judged = Array.from({ length: 2 }, (_, vote) => {
    const off = vote === 1 && i === 4;
    const text = off ? HOSTILE : `${verdict}<eos>`;
    const agreement = off ? 0 : Number(verdict.endsWith('<right>') === truth.right);
    return {
      ...record('judge', deriveId(id, 'judge', vote), text, off ? 'off-grammar' : 'ok', { agreement }),
      of: id,
    };
  });
  const gold = arithmetic.gold(task, solution);
  return {
    sample: record('solver', id, `${writeSolution(solution)}<eos>`, 'ok', {
      reward: gold ? 1 : 0.1,
      passed: Number(gold),
    }),
    judgments: judged,
    gold,
    truth: truth.right,
  };
}

const deadLetters = [
  {
    id: deriveId('letter', 1),
    queue: 'judge',
    attempts: 6,
    kind: 'give-up',
    code: 'object.damaged',
    cause: `The object rounds/1/rollouts.json cannot be read. ${HOSTILE}`,
    round: deriveId('round', 9),
    group: deriveId('group', 9),
    at: BEGAN + 30_000,
    replayedAt: null,
  },
];

const ARMS = ['mix', 'judge', 'frozen judge', 'random', 'format', 'frozen proposer'];

/** As dashboard/claims.json holds it. */
function fakeClaims() {
  const rounds = [0, 10, 20, 30, 40];
  const random = new Random('fake/claims');
  const curve = (best: number) => rounds.map((round) => course(random, 0.342, best, round / 40));
  const arms = ARMS.map((name, i) => {
    const best = [0.74, 0.66, 0.34, 0.33, 0.22, 0.7][i]!;
    return {
      name,
      says: `what ${name} is there for`,
      rounds,
      curves: { accuracy: curve(best), sampled: curve(best - 0.1), forcedWorked: curve(0.7) },
    };
  });
  const conditions = [
    {
      says: 'the trained judge ends above the frozen one',
      bound: 'at least 0.2',
      measured: [0.31, 0.29, 0.33],
      holds: true,
    },
    { says: HOSTILE, bound: 'at most 0.03', measured: [0.01, 0.05, -0.02], holds: false },
  ];
  const claim =
    'Where the solver never sees gold, a judge that is trained carries it; the same judge frozen is hacked.';
  return {
    trio: {
      claim,
      verdict: 'partly',
      rounds: 40,
      seeds: [0, 1, 2],
      commit: '0123456789abcdef',
      conditions,
      pictures: { accuracy: 'Greedy', sampled: 'Sampled', forcedWorked: 'Steps forced' },
      arms,
    },
  };
}

function answer(runs: readonly Run[], url: URL): object | null {
  const parts = url.pathname.split('/').slice(2);
  const [kind, id, sub, group] = parts;
  if (kind === 'runs') return { runs: runs.map((run) => run.view()) };
  if (kind === 'dead-letters') return { deadLetters };
  const [first] = runs;
  if (kind === 'policies' && id && first) {
    const versions = Array.from({ length: first.done + 1 }, (_, i) => first.done - i).map((version) => ({
      policy: id,
      version,
      parent: version ? version - 1 : null,
      round: null,
      bytes: 1_560_000,
      createdAt: BEGAN + 2400 * version,
      withdrawn: version === 3 ? `Rolled back: ${HOSTILE}` : null,
    }));
    return {
      name: id,
      current: first.done,
      updatedAt: BEGAN,
      next: first.done + 1,
      versions: versions.slice(0, 200),
    };
  }
  if (kind === 'rounds' && id === undefined) {
    const run = runs.find((candidate) => candidate.id === url.searchParams.get('run'));
    const before = url.searchParams.get('before');
    const limit = Number(url.searchParams.get('limit') ?? 50);
    return { rounds: run?.rounds(limit, before === null ? undefined : Number(before)) ?? [] };
  }
  if (kind === 'rounds' && id && sub === 'groups')
    return group === undefined ? { groups: groupsOf(id) } : groupOf(id, group);
  return null;
}

export interface FakeSettings {
  /** Rounds that have ended; the next one is open until the target is reached. */
  readonly done?: number;
  readonly target?: number;
  /** Reading needs this token. */
  readonly token?: string;
  /** No run at all. */
  readonly empty?: boolean;
}

export async function startFakeMesh(settings: FakeSettings = {}): Promise<FakeMesh> {
  const { done = 40, target = 40, token, empty = false } = settings;
  const run = new Run(trained, done, target, 0.72);
  const runs = empty ? [] : [run, new Run(frozen, 40, 40, 0.36)];
  const requests = new Map<string, number>();
  let failing: number | null = null;
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    requests.set(url.pathname, (requests.get(url.pathname) ?? 0) + 1);
    response.setHeader('content-security-policy', POLICY);
    const send = (status: number, type: string, body: string | Uint8Array) => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    };
    if (url.pathname.startsWith('/api/')) {
      const denied = token !== undefined && request.headers.authorization !== `Bearer ${token}`;
      const refused = failing ?? (denied ? 401 : null);
      const found = refused === null ? answer(runs, url) : null;
      const status = refused ?? (found ? 200 : 404);
      const error = { error: { code: 'x', message: `Refused: ${HOSTILE}`, expected: null, next: null } };
      send(status, 'application/json', JSON.stringify(found ?? error));
      return;
    }
    if (url.pathname === '/claims.json') {
      send(200, 'application/json', JSON.stringify(fakeClaims()));
      return;
    }
    const file = normalize(join(PAGE, url.pathname === '/' ? 'index.html' : url.pathname));
    readFile(file.startsWith(PAGE) ? file : join(PAGE, 'none')).then(
      (body) => send(200, TYPES[extname(file)] ?? 'application/octet-stream', body),
      () => send(404, 'text/plain', 'not found'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    advance: () => {
      run.done++;
    },
    failWith: (status) => {
      failing = status;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
