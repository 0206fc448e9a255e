/**
 * What share of a policy's bf16 weights a version changes, by the learning rate, and how large the delta then is beside the file: the start policy of
 * arithmetic is trained on its demonstrations, a version after every four steps of AdamW, as a round of reinforcement learning takes them.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { rebuilt, writeDelta } from '../../core/policy/delta.ts';
import { Random } from '../../core/random.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { thisMachine } from '../../local/machine.ts';
import { parseConfig } from '../../model/config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, readStored, writeSafetensors } from '../../model/safetensors.ts';
import { demonstrate } from '../../worlds/arithmetic/demonstrations.ts';

const RESULT = 'test/bench/results/deltas.json';
const POLICY = 'arithmetic-base';
const RATES = [1e-4, 1e-5, 1e-6];
const STEPS = 4;
const BATCH = 32;

interface Version {
  readonly learningRate: number;
  readonly version: number;
  /** Shares of the values that differ from the version before: in float32 and in bf16. */
  readonly float32: number;
  readonly bf16: number;
  /** Bytes of the delta by those of the file. */
  readonly delta: number;
  readonly writeMs: number;
  readonly rebuildMs: number;
}

const files = await readPolicyFolder(`models/${POLICY}`);
const textOf = (bytes: Uint8Array | undefined): unknown => JSON.parse(new TextDecoder().decode(bytes));
const config = parseConfig(textOf(files['config.json']));
const tokenizer = openTokenizer(textOf(files['tokenizer.json']));
const start = files['model.safetensors']!;

const fileOf = (bytes: Uint8Array) => ({ bytes, sha256: createHash('sha256').update(bytes).digest('hex') });

/** The share of values whose stored bits differ. */
function changedShare(before: Uint8Array, after: Uint8Array): number {
  let [changed, all] = [0, 0];
  const old = readStored(before);
  for (const [name, { bytes, shape }] of readStored(after)) {
    const was = old.get(name)!.bytes;
    const width = bytes.length / shape.reduce((a, b) => a * b, 1);
    for (let at = 0; at < bytes.length; at += width, all++)
      for (let i = at; i < at + width; i++)
        if (bytes[i] !== was[i]) {
          changed++;
          break;
        }
  }
  return changed / all;
}

async function measure(before: Uint8Array, after: Uint8Array) {
  const [base, result] = [fileOf(before), fileOf(after)];
  const began = performance.now();
  const delta = writeDelta(base, result, Infinity)!;
  const written = performance.now();
  const replay = {
    anchor: { sha256: base.sha256, bytes: before.length },
    deltas: [{ sha256: fileOf(delta).sha256, bytes: delta.length, result: result.sha256 }],
  };
  // Its last step throws unless the bytes are those of the version.
  for await (const _piece of rebuilt('model.safetensors', replay, [before], [delta]));
  return {
    bf16: Number(changedShare(before, after).toPrecision(3)),
    delta: Number((delta.length / after.length).toPrecision(3)),
    writeMs: Number((written - began).toFixed(2)),
    rebuildMs: Number((performance.now() - written).toFixed(2)),
  };
}

async function train(learningRate: number, versions: number): Promise<Version[]> {
  const params = paramsFrom(config, readSafetensors(start));
  const optimizer = new AdamW(params, { betas: [0.9, 0.95], weightDecay: 0.01, clipNorm: 1 });
  const random = new Random('deltas');
  const out: Version[] = [];
  const stored = async () => {
    const tensors = await params.toTensors();
    return { float32: writeSafetensors(tensors), bf16: writeSafetensors(tensors, 'BF16') };
  };
  let before = await stored();
  for (let version = 1; version <= versions; version++) {
    for (let step = 0; step < STEPS; step++) {
      const sequences = Array.from({ length: BATCH }, () => {
        const { prompt, completion } = demonstrate(random);
        const from = tokenizer.encode(prompt);
        return { ids: [...from, ...tokenizer.encode(completion)], from: from.length };
      });
      const result = lossAndGrads(
        params,
        () => tf.neg(tf.mean(tokenLogProbs(params, packSequences(sequences)).logp)) as tf.Scalar,
      );
      optimizer.step(result.grads, learningRate).dispose();
      disposeResult(result);
    }
    const after = await stored();
    const float32 = Number(changedShare(before.float32, after.float32).toPrecision(3));
    out.push({ learningRate, version, float32, ...(await measure(before.bf16, after.bf16)) });
    before = after;
  }
  params.dispose();
  optimizer.dispose();
  return out;
}

/** `--versions N` (8) at each learning rate, `--json`: one JSON object. Results also go to test/bench/results/deltas.json. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { versions: { type: 'string', default: '8' }, json: { type: 'boolean', default: false } },
  });
  const device = await openDevice({ device: 'cpu', threads: 1 });
  const runs: Version[] = [];
  for (const rate of RATES)
    for (const version of await train(rate, Number(values.versions))) {
      runs.push(version);
      if (!values.json)
        console.log(
          `${rate}, version ${version.version}: ${(100 * version.bf16).toFixed(2)} % of the bf16 values, delta ${(100 * version.delta).toFixed(2)} % of the file`,
        );
    }
  device.close();
  const about = { machine: thisMachine(), policy: POLICY, steps: STEPS, batch: BATCH };
  const result = `${JSON.stringify({ ...about, versions: runs }, null, 1)}\n`;
  writeFileSync(RESULT, result);
  if (values.json) console.log(result);
}
