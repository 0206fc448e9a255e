/**
 * transformers.js as a resident process: for each line it reads, generates from a checkpoint folder as often as fills a turn, and answers
 * with the mean milliseconds and the number of runs. Arguments: the folder it is installed in, the folder of checkpoints, the checkpoint's name, batch, prompt
 * length, new tokens, milliseconds of a turn.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [installed, folder, name, ...sizes] = process.argv.slice(2);
const [batch, prompt, maxNew, turnMs] = sizes.map(Number);
const entry = createRequire(join(installed, 'package.json')).resolve('@huggingface/transformers');
const { AutoModelForCausalLM, env, Tensor } = await import(pathToFileURL(entry).href);
env.allowRemoteModels = false;
env.localModelPath = folder;

const model = await AutoModelForCausalLM.from_pretrained(name, {
  dtype: 'fp32',
  device: 'cpu',
  // One thread, as a Worker has.
  session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 },
});
const dims = [batch, prompt];
const ids = BigInt64Array.from({ length: batch * prompt }, (_, i) => BigInt(((i % prompt) * 7) % 60));
const settings = {
  input_ids: new Tensor('int64', ids, dims),
  attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), dims),
  max_new_tokens: maxNew,
  do_sample: true,
  temperature: 1,
  top_k: 0,
  eos_token_id: null,
};

console.log(JSON.stringify({ ready: true }));
for await (const _ of createInterface({ input: process.stdin })) {
  const start = performance.now();
  let runs = 0;
  do {
    const out = await model.generate(settings);
    if (out.dims.join() !== `${batch},${prompt + maxNew}`) throw new Error(`generated [${out.dims}]`);
    runs++;
  } while (performance.now() - start < turnMs);
  console.log(JSON.stringify({ ms: (performance.now() - start) / runs, runs }));
}
