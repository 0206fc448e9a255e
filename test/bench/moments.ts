/**
 * What moments in 8 bits cost: a small model is trained on the same demonstrations with its moments as they are, and rounded after every fourth step
 * or after every step, as a run of rounds rounds them when it publishes. The loss is on demonstrations that no step has seen.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { AdamW } from '../../learner/nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../../learner/nn/loss-and-grads.ts';
import { packSequences } from '../../learner/nn/pack.ts';
import { type ParamSet, paramsFrom } from '../../learner/nn/params.ts';
import { tokenLogProbs } from '../../learner/nn/token-log-probs.ts';
import * as tf from '../../learner/tfjs.ts';
import { readOptimizer, writeOptimizer } from '../../learner/train/optimizer-file.ts';
import { thisMachine } from '../../local/machine.ts';
import { randomCheckpoint } from '../../model/init.ts';
import { SHAPES } from '../../model/shapes.ts';
import { demonstrate } from '../../worlds/arithmetic/demonstrations.ts';

const RESULT = 'test/bench/results/moments.json';
const BATCH = 32;
const LEARNING_RATE = 2e-3;
/** After how many steps the moments are rounded; null = never. */
const EVERY = [null, 4, 1] as const;

const { vocabSize, json } = characterTokenizer();
const tokenizer = openTokenizer(json);
const config = SHAPES.nano(vocabSize, tokenizer.id('<eos>'));

const sequences = (random: Random, count: number) =>
  Array.from({ length: count }, () => {
    const { prompt, completion } = demonstrate(random);
    const from = tokenizer.encode(prompt).length;
    return { ids: tokenizer.encode(prompt + completion), from };
  });
const lossOf = (params: ParamSet, batch: ReturnType<typeof sequences>) =>
  tf.neg(tf.mean(tokenLogProbs(params, packSequences(batch)).logp)) as tf.Scalar;

async function train(seed: number, steps: number, every: number | null) {
  const params = paramsFrom(config, randomCheckpoint(config, `moments/${seed}`));
  const optimizer = new AdamW(params, { betas: [0.9, 0.95], weightDecay: 0.01, clipNorm: 1 });
  const random = new Random(`moments/${seed}`);
  let bytes = 0;
  for (let step = 1; step <= steps; step++) {
    const batch = sequences(random, BATCH);
    const result = lossAndGrads(params, () => lossOf(params, batch));
    optimizer.step(result.grads, LEARNING_RATE * Math.min(1, step / 20)).dispose();
    disposeResult(result);
    if (every && step % every === 0) {
      const file = writeOptimizer(await optimizer.exportState(), 'int8');
      bytes = file.length;
      optimizer.importState(readOptimizer(file));
    }
  }
  if (!every) bytes = writeOptimizer(await optimizer.exportState()).length;
  const unseen = sequences(new Random('moments/unseen'), 256);
  const loss = tf.tidy(() => lossOf(params, unseen));
  const held = (await loss.data())[0]!;
  tf.dispose(loss);
  params.dispose();
  optimizer.dispose();
  return { every, seed, loss: Number(held.toFixed(4)), bytes };
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      steps: { type: 'string', default: '400' },
      seeds: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
    },
  });
  const [steps, seeds] = [Number(values.steps), Number(values.seeds)];
  const device = await openDevice({ device: 'cpu', threads: 1 });
  const runs = [];
  for (let seed = 0; seed < seeds; seed++)
    for (const every of EVERY) {
      const run = await train(seed, steps, every);
      if (!values.json)
        console.log(
          `seed ${seed}, rounded ${every ? `every ${every}` : 'never'}: ${run.loss} nats, ${run.bytes} bytes`,
        );
      runs.push(run);
    }
  device.close();
  const result = `${JSON.stringify({ machine: thisMachine(), steps, batch: BATCH, runs }, null, 1)}\n`;
  writeFileSync(RESULT, result);
  if (values.json) console.log(result);
}
