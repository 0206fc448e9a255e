/** Measures how large a policy an isolate of 128 MB can hold: opens 100 M parameters in 8 bits piece by piece and reads workerd's memory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Miniflare } from 'miniflare';
import { thisMachine } from '../../local/machine.ts';
import { bundleWorker } from '../../local/mesh/bundle.ts';
import { childrenNamed, cpuMs, residentBytes } from './processes.ts';
import type { IsolateOpen, IsolateRun } from './rollout/isolate.worker.ts';

/** A model of 100 M parameters, of which 25 M are the embedding table. */
const CONFIG = {
  model_type: 'llama',
  vocab_size: 32_000,
  hidden_size: 768,
  intermediate_size: 2048,
  num_hidden_layers: 12,
  num_attention_heads: 12,
  num_key_value_heads: 4,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
};
const MIB = 1 << 20;

/** `--json`: one JSON object. Results also go to test/bench/results/isolate.json. Linux only: memory is read from /proc. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } });
  const { root, modules } = await bundleWorker('test/bench/rollout/isolate.worker.ts');
  const worker = new Miniflare({
    modulesRoot: root,
    modules,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    cf: false,
  });
  await worker.ready;
  const pid = childrenNamed('workerd').at(-1)!;
  const ask = async (path: string, body: IsolateOpen | IsolateRun) => {
    const answer = await worker.dispatchFetch(`http://bench${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const json: { ms: number; heapBytes: number; parameters: number } = JSON.parse(await answer.text());
    return json;
  };
  try {
    await worker.dispatchFetch('http://bench/');
    const empty = residentBytes(pid).now;
    const { parameters } = await ask('/open', {
      config: CONFIG,
      ref: { engine: 'kernels', weights: 'int8' },
    });
    const rows = [];
    let heapBytes = 0;
    for (const samples of [1, 16]) {
      const shape = { groups: 1, samples, prompt: 32, maxNew: 16 };
      await ask('/', shape);
      const before = cpuMs(pid)!;
      ({ heapBytes } = await ask('/', shape));
      rows.push({ samples, tokensPerCpuSecond: (1000 * samples * shape.maxNew) / (cpuMs(pid)! - before) });
    }
    const { now, most } = residentBytes(pid);
    const result = {
      bench: 'isolate',
      machine: thisMachine(),
      parameters,
      wasmBytes: heapBytes,
      processGrewBy: now - empty,
      processGrewByAtMost: most - empty,
      rows,
    };
    mkdirSync('test/bench/results', { recursive: true });
    writeFileSync('test/bench/results/isolate.json', `${JSON.stringify(result, null, 2)}\n`);
    if (values.json) console.log(JSON.stringify(result));
    else {
      console.log(
        `${(parameters / 1e6).toFixed(0)} M parameters in 8 bits: ${(heapBytes / MIB).toFixed(0)} MiB of wasm memory; ` +
          `the process grew by ${((now - empty) / MIB).toFixed(0)} MiB, ${((most - empty) / MIB).toFixed(0)} MiB at most`,
      );
      for (const { samples, tokensPerCpuSecond } of rows)
        console.log(
          `  batch ${String(samples).padStart(2)}: ${tokensPerCpuSecond.toFixed(1)} tokens a CPU second`,
        );
    }
  } finally {
    await worker.dispose();
  }
}
