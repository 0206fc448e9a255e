/**
 * A reward service for programs in Python, as the mesh asks it (docs/tasks.md): each answer of a group is run on the tests of its task. A verdict that is made
 * once is kept, so that a request that is sent again, because the first one took too long, finds what was made meanwhile.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import * as v from 'valibot';
import { pythonIn, pythonTests } from '../../core/checkers/python.ts';
import { RollmeshError } from '../../core/errors.ts';
import { verifyStandardWebhook } from '../../core/net/standard-webhook.ts';
import { deriveId } from '../../core/random.ts';
import type { PythonRun, PythonTests } from '../../core/sandbox/python.ts';

/** A request is answered before the mesh gives it up, after ten seconds. */
const PATIENCE_MS = 9000;
const MOST_BYTES = 4 << 20;
/** Verdicts that are kept. */
const MOST_KEPT = 10_000;

const question = v.object({
  task: v.object({ metadata: v.record(v.string(), v.unknown()) }),
  rollouts: v.array(v.object({ text: v.string(), ended: v.boolean() })),
});

export type RunPrograms = (program: string, tests: PythonTests) => Promise<PythonRun>;

/** 1 where all tests pass, 0 where the program is no good, null where it came to no verdict. */
const rewardOf = ({ outcome }: PythonRun): number | null =>
  outcome === 'passed' ? 1 : outcome === 'timed-out' || outcome === 'crashed' ? null : 0;

/** Runs at most `atOnce` at the same time, in the order in which they were asked for. */
function inTurns(run: RunPrograms, atOnce: number): RunPrograms {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (program, tests) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      return await run(program, tests);
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** `secret`: signs the requests; others are refused. `tell`: hears of each group that was judged. */
export function rewardServer(
  run: RunPrograms,
  { secret, atOnce, tell }: { secret: string; atOnce: number; tell: (words: string) => void },
): Server {
  const turn = inTurns(run, atOnce);
  const kept = new Map<string, Promise<PythonRun>>();
  const verdict = (program: string, tests: PythonTests): Promise<PythonRun> => {
    const key = deriveId('python', JSON.stringify([program, tests]));
    const known = kept.get(key);
    if (known) return known;
    const made = turn(program, tests);
    // One that failed, or came to no verdict, is made again.
    const forget = () => kept.delete(key);
    made.then((run) => rewardOf(run) === null && forget(), forget);
    kept.set(key, made);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    return made;
  };
  const answer = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    if (request.method !== 'POST') return [405, { error: 'Expected a POST of the mesh.' }];
    const body = await bodyOf(request);
    if (body === null) return [413, { error: `Expected at most ${MOST_BYTES} bytes.` }];
    try {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      verifyStandardWebhook(secret, Object.fromEntries(headers), body);
    } catch {
      return [401, { error: 'The signature is not that of REWARD_SECRET.' }];
    }
    const read = v.safeParse(v.pipe(v.string(), v.parseJson(), question), body);
    if (!read.success) return [400, { error: 'Expected a task and its rollouts.' }];
    const { task, rollouts } = read.output;
    let tests: PythonTests;
    try {
      tests = pythonTests(task);
    } catch (error) {
      if (!(error instanceof RollmeshError)) throw error;
      return [422, { error: error.message }];
    }
    const runs = rollouts.map(({ text, ended }) =>
      ended
        ? verdict(pythonIn(text), tests)
        : Promise.resolve<PythonRun>({ outcome: 'failed', failed: null }),
    );
    const late = new Promise<null>((resolve) => setTimeout(resolve, PATIENCE_MS, null).unref());
    const all = await Promise.race([Promise.all(runs), late]);
    if (!all) return [503, { error: 'The programs still run: ask again.' }];
    const refused = [...new Set(all.flatMap(({ asked }) => asked ?? []))].join(', ');
    const passed = all.filter(({ outcome }) => outcome === 'passed').length;
    tell(`${passed} of ${all.length} programs pass${refused && `; refused: ${refused}`}`);
    return [200, { rewards: all.map(rewardOf) }];
  };
  const answered = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    try {
      return await answer(request);
    } catch (error) {
      tell(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
      return [500, { error: 'The programs could not be run.' }];
    }
  };
  return createServer((request, response) => {
    void answered(request).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(body));
    });
  });
}
