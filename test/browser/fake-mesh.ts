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

function evaluationAt(random: Random, version: number, share: number): EvaluationReport {
  return {
    version,
    heldOut: {
      n: 500,
      accuracy: course(random, 0.342, 0.72, share),
      sampled: course(random, 0.36, 0.52, share),
      forcedWorked: course(random, 0.704, 0.73, share),
      worked: course(random, 0.44, 0.93, share),
      formatRate: 1,
    },
    judge: { fixed: course(random, 0.62, 0.74, share), own: course(random, 0.6, 0.71, share) },
  };
}

function reportAt(random: Random, index: number, rounds: number): RoundReport {
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
    ...(index % 5 === 0 || index === rounds ? { evaluation: evaluationAt(random, index, share) } : {}),
    ...(index === 1 ? { start: evaluationAt(random, 0, 0) } : {}),
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

const settings: RunSettings = {
  recipe: 'trio',
  seed: 0,
  policy: 'trio-0',
  reward: 'mix',
  freeze: [],
  tasks: 64,
  group: 8,
};

const ref = (version: number) => ({ name: settings.policy, version });

class Mesh {
  readonly run = runIdOf(settings);
  done: number;
  readonly target: number;

  constructor(done: number, target: number) {
    this.done = done;
    this.target = target;
  }

  runs() {
    const other = { ...settings, reward: 'judge', freeze: ['judge'], seed: 1 };
    return [
      { id: this.run, settings, target: this.target, state: 'open', createdAt: BEGAN },
      { id: runIdOf(other), settings: other, target: 40, state: 'stopped', createdAt: BEGAN - 1e6 },
    ];
  }

  round(index: number) {
    const open = index > this.done;
    const random = new Random(`fake/${index}`);
    return {
      id: deriveId('round', this.run, index),
      run: this.run,
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
      report: open ? null : reportAt(random, index, this.target),
      createdAt: BEGAN + 2400 * index,
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

  /** Of any round: 64 tasks; the first one's task and texts are hostile, the second failed. */
  groups(round: string) {
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

  group(round: string, id: string) {
    const group = this.groups(round).find((candidate) => candidate.group === id);
    if (!group) return null;
    if (group.state === 'failed')
      return { ...group, samples: null, judgments: null, gold: null, truth: null };
    const samples = Array.from({ length: settings.group }, (_, i) => sampleOf(group.task, id, i));
    return {
      ...group,
      samples: samples.map(({ sample }) => sample),
      judgments: samples.flatMap(({ judgments }) => judgments),
      gold: samples.map(({ gold }) => gold),
      truth: samples.map(({ truth }) => truth),
    };
  }
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

function answer(mesh: Mesh, url: URL): object | null {
  const parts = url.pathname.split('/').slice(2);
  const [kind, id, sub, group] = parts;
  if (kind === 'runs') return { runs: mesh.runs() };
  if (kind === 'dead-letters') return { deadLetters };
  if (kind === 'policies' && id) {
    const versions = Array.from({ length: mesh.done + 1 }, (_, i) => mesh.done - i).map((version) => ({
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
      current: mesh.done,
      updatedAt: BEGAN,
      next: mesh.done + 1,
      versions: versions.slice(0, 200),
    };
  }
  if (kind === 'rounds' && id === undefined) {
    if (url.searchParams.get('run') !== mesh.run) return { rounds: [] };
    const before = url.searchParams.get('before');
    return {
      rounds: mesh.rounds(
        Number(url.searchParams.get('limit') ?? 50),
        before === null ? undefined : Number(before),
      ),
    };
  }
  if (kind === 'rounds' && id && sub === 'groups')
    return group === undefined ? { groups: mesh.groups(id) } : mesh.group(id, group);
  return null;
}

export async function startFakeMesh({ done = 40, target = 40 } = {}): Promise<FakeMesh> {
  const mesh = new Mesh(done, target);
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
      const found = failing === null ? answer(mesh, url) : null;
      const status = failing ?? (found ? 200 : 404);
      const error = { error: { code: 'x', message: `Refused: ${HOSTILE}`, expected: null, next: null } };
      send(status, 'application/json', JSON.stringify(found ?? error));
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
      mesh.done++;
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
