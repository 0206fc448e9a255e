/**
 * The page /node: lends this browser tab to the mesh that serves it. A token, a button, a counter. Nothing is stored: the token is in the
 * page's memory alone, and closing the tab ends everything.
 */

import { identityOf } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { LeaseOrder } from '../../core/schema/work.ts';
import { WorkClient } from '../../workers/api/work-client.ts';
import { type ComputeAnswer, cannotCompute } from './compute.ts';
import { type Compute, lend } from './lend.ts';
import type { TabReady } from './tab-thread.ts';

const IDLE_MS = 500;
/** After so long without work the page says what that may mean, ms. */
const QUIET_MS = 10_000;
const COMPUTES = 'This tab computes for the mesh. Closing it ends that, and leaves nothing behind.';
/** By the engine that was chosen: why the mesh may have no work for it. */
const WAITS: Readonly<Record<string, string>> = {
  any: 'The mesh has no work now: no round is sampling. This tab keeps asking.',
  onnx: 'The mesh has no work for this tab now: no round is sampling, or its run is one with --engine kernels, whose work this tab’s engine does not take. This tab keeps asking.',
  kernels:
    'The mesh has no work for this tab now: no round is sampling, or its run is one without --engine kernels, whose work this tab’s engine does not take. This tab keeps asking.',
  webgpu:
    'The mesh has no work for this tab now: no round is sampling, or other nodes have what there is. This tab keeps asking.',
};
/** What helps a tab whose engine fails. */
const OTHER_ENGINE = 'Load this page again, or choose another engine.';

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`internal: the page has no ${id}`);
}

const form = element('lend', HTMLFormElement);
const token = element('node-token', HTMLInputElement);
const engine = element('engine', HTMLSelectElement);
const button = element('button', HTMLButtonElement);
const status = element('node-status', HTMLParagraphElement);
const counters = {
  requests: element('requests', HTMLElement),
  samples: element('samples', HTMLElement),
  tokens: element('tokens', HTMLElement),
};

interface Thread {
  readonly compute: Compute;
  readonly order: Pick<LeaseOrder, 'engines' | 'weights' | 'grammars' | 'images'>;
  readonly stop: () => void;
}

/** Starts a thread with an engine and learns which work it computes. Throws where the browser lacks what the engine needs. */
async function startThread(name: string): Promise<Thread> {
  const worker = new Worker('/node/tab-thread.js', { type: 'module', name });
  const waiting = new Map<number, { answer(answer: ComputeAnswer): void; fail(error: Error): void }>();
  const ready = await new Promise<TabReady>((resolve, reject) => {
    worker.onerror = () => {
      worker.terminate();
      reject(new Error('The thread of this tab could not be started.'));
    };
    worker.onmessage = ({ data }: MessageEvent<TabReady>) => resolve(data);
  });
  if ('problem' in ready) {
    worker.terminate();
    throw new Error(ready.problem);
  }
  worker.onmessage = ({ data }: MessageEvent<ComputeAnswer>) => {
    waiting.get(data.call)?.answer(data);
    waiting.delete(data.call);
  };
  worker.onerror = ({ message }) => {
    for (const { fail } of waiting.values()) fail(new Error(`A thread of this tab failed: ${message}`));
    waiting.clear();
  };
  let calls = 0;
  return {
    order: ready.order,
    compute: (requests, files) =>
      new Promise((resolve, reject) => {
        const call = calls++;
        waiting.set(call, {
          answer: (answer) =>
            'completions' in answer
              ? resolve(answer.completions)
              : reject(cannotCompute(answer, OTHER_ENGINE)),
          fail: reject,
        });
        worker.postMessage({ call, requests, files });
      }),
    stop: () => worker.terminate(),
  };
}

let stop: AbortController | undefined;

async function run(signal: AbortSignal): Promise<void> {
  const identity = await identityOf(token.value);
  status.textContent = 'Starting the engine.';
  const thread = await startThread(engine.value);
  const waits = WAITS[engine.value]!;
  const total = { requests: 0, samples: 0, tokens: 0 };
  const show = () => {
    for (const name of ['requests', 'samples', 'tokens'] as const)
      counters[name].textContent = total[name].toLocaleString('en');
  };
  show();
  status.textContent = COMPUTES;
  let workedAt = Date.now();
  try {
    await lend({
      client: new WorkClient({ url: location.origin, token: identity.token }),
      identity,
      order: { kind: 'tab', ...thread.order },
      threads: [thread.compute],
      events: {
        answered: ({ samples, tokens }) => {
          workedAt = Date.now();
          if (status.textContent === waits) status.textContent = COMPUTES;
          total.requests++;
          total.samples += samples;
          total.tokens += tokens;
          show();
        },
        trouble: ({ message }) => {
          status.textContent = message;
        },
        idle: () => {
          if (Date.now() - workedAt > QUIET_MS) status.textContent = waits;
        },
      },
      signal,
      idleMs: IDLE_MS,
    });
    status.textContent = 'Stopped. What this tab held is open to others again.';
  } finally {
    thread.stop();
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (stop) {
    stop.abort();
    return;
  }
  stop = new AbortController();
  button.textContent = 'Stop';
  token.readOnly = engine.disabled = true;
  run(stop.signal)
    .catch((error: unknown) => {
      status.textContent =
        error instanceof RollmeshError || error instanceof Error ? error.message : String(error);
    })
    .finally(() => {
      stop = undefined;
      button.textContent = 'Lend this tab';
      token.readOnly = engine.disabled = false;
    });
});
