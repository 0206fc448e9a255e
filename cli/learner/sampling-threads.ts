/** Threads of the learner's process that sample for evaluations (learner/loop/sample-apart.ts): those that a node computes with. */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { RollmeshError } from '../../core/errors.ts';
import { keptImage, pixmap } from '../../core/images/image.ts';
import { imagesShown } from '../../core/images/shown.ts';
import type { Completion, GeneratePrompt } from '../../core/policy/policy.ts';
import { adapterFile, setFiles, type VersionFile, weightsFile } from '../../core/schema/policy.ts';
import type { LeasedFile, SamplingRequest } from '../../core/schema/work.ts';
import { packGrammar } from '../../core/text/token-grammar.ts';
import type { ApartSampling } from '../../learner/loop/evaluator.ts';
import type { SampleApart } from '../../learner/loop/sample-apart.ts';
import type { ComputeFailure, FileBytes } from '../../local/node/compute.ts';
import { parseConfig } from '../../model/config.ts';
import { startThreads, type Thread } from '../node/threads.ts';

/** More would hold more copies of the weights, for evaluations that take seconds. */
const MOST = 4;

/** The most prompts that a thread is given at a time: as many rows as an engine samples together. */
const MOST_PROMPTS = 64;

/** Threads, and which of them compute nothing now. */
class Pool {
  readonly #threads: readonly Thread[];
  readonly #idle: Thread[];
  readonly #waiting: ((thread: Thread) => void)[] = [];

  constructor(threads: readonly Thread[]) {
    this.#threads = threads;
    this.#idle = [...threads];
    // One that cannot begin says so when it is asked to compute.
    for (const { ready } of threads) ready.catch(() => {});
  }

  async compute(request: SamplingRequest, bytes: FileBytes): Promise<readonly (readonly Completion[])[]> {
    const thread = await this.#take();
    try {
      return (await thread.compute([request], bytes))[0]!;
    } finally {
      const waiting = this.#waiting.shift();
      if (waiting) waiting(thread);
      else this.#idle.push(thread);
    }
  }

  /** A thread that computes nothing: one computes one call after the other. */
  #take(): Promise<Thread> {
    const thread = this.#idle.pop();
    return thread ? Promise.resolve(thread) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map(({ stop }) => stop()));
  }
}

/** Why an evaluation could not be sampled, in the words of what failed. */
const notSampled = ({ error, code = 'evaluation.sampling', expected, next }: ComputeFailure) =>
  new RollmeshError('give-up', code, error, { ...(expected ? { expected } : {}), ...(next ? { next } : {}) });

/** Threads that start when they are first asked for, as many as there are cores; `beside` uses one less at a time. */
export class SamplingThreads implements ApartSampling {
  readonly #count: number;
  readonly #start: (count: number) => readonly Thread[];
  #pool: Pool | undefined;
  #stopped = false;

  constructor(
    count: number = Math.min(MOST, availableParallelism()),
    start: (count: number) => readonly Thread[] = (wanted) =>
      startThreads(wanted, null, { failed: notSampled }),
  ) {
    this.#count = count;
    this.#start = start;
  }

  readonly sample: SampleApart = (...asked) => this.#sample(this.#count, ...asked);
  readonly beside: SampleApart = (...asked) => this.#sample(Math.max(1, this.#count - 1), ...asked);

  /** Starts the threads, for evaluations that are expected. */
  prepare(): void {
    this.#pool ??= new Pool(this.#start(this.#count));
  }

  /** For good: what asks later starts no threads. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#pool?.stop();
  }

  /** On `count` threads at a time. */
  async #sample(count: number, ...[policy, files, prompts, settings]: Asked): Promise<Completion[][]> {
    if (this.#stopped) throw new Error('internal: the threads of evaluations were stopped');
    const { request, bytes } = requestOf(policy, files, settings);
    const shares = dealt(prompts, count * Math.ceil(prompts.length / (count * MOST_PROMPTS)));
    this.prepare();
    const pool = this.#pool!;
    const made: (readonly (readonly Completion[])[])[] = [];
    let next = 0;
    const lane = async () => {
      for (let at = next++; at < shares.length; at = next++) {
        const share = shares[at]!;
        made[at] = await pool.compute({ ...request, prompts: share }, { ...bytes, ...imagesOf(share) });
      }
    };
    try {
      await Promise.all(Array.from({ length: count }, lane));
    } catch (error) {
      // What a thread cannot compute it says. Where one has ended, others start in place of all.
      if (!(error instanceof RollmeshError) && this.#pool === pool) {
        this.#pool = undefined;
        await pool.stop();
      }
      throw error;
    }
    return prompts.map((_, p) => [...made[p % shares.length]![Math.floor(p / shares.length)]!]);
  }
}

type Asked = Parameters<SampleApart>;

/** What a thread is asked, without prompts, and the bytes of the files that it names. */
function requestOf(policy: Asked[0], files: Asked[1], { grammar, stop, ...settings }: Asked[3]) {
  const { weights, adapter } = setFiles(files, policy.set);
  const config = files['config.json']!;
  const bytes: Record<string, Uint8Array> = {};
  const given = (file: VersionFile, content: Uint8Array): LeasedFile => {
    const sha256 = createHash('sha256').update(content).digest('hex');
    bytes[sha256] = content;
    return { file, version: policy.version, bytes: content.length, sha256 };
  };
  const request: SamplingRequest = {
    policy,
    config: given('config.json', config),
    weights: given(weightsFile(policy.set), weights!),
    ...(adapter ? { adapter: given(adapterFile(policy.set), adapter) } : {}),
    vocabSize: parseConfig(JSON.parse(new TextDecoder().decode(config))).vocabSize,
    prompts: [],
    settings: { ...settings, stop: [...stop], ...(grammar ? { grammar: packGrammar(grammar) } : {}) },
  };
  return { request, bytes };
}

/** The images that prompts show, by their hashes: a thread has none of those that this process has. */
const imagesOf = (prompts: readonly GeneratePrompt[]): FileBytes =>
  Object.fromEntries(
    imagesShown(prompts.map(({ ids }) => ids)).map((sha256) => [sha256, pixmap(keptImage(sha256))]),
  );

/** Prompt p is in share p modulo `count`, so that prompts of all lengths are in each. */
const dealt = (prompts: readonly GeneratePrompt[], count: number) =>
  Array.from({ length: count }, (_, t) =>
    prompts
      .filter((_, p) => p % count === t)
      .map(({ ids, sampleIds }) => ({ ids: [...ids], sampleIds: [...sampleIds] })),
  ).filter(({ length }) => length);
