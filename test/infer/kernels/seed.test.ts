/** On the shipped start policy, the two engines draw the same tokens. */
import { expect, test } from 'vitest';
import { nodeEngines } from '../../../infer/node-engines.ts';
import { openVersion } from '../../../infer/open-version.ts';
import { readPolicyFolder } from '../../../model/policy-folder.ts';
import { TESTED_ENGINES } from '../engines.ts';

const engines = TESTED_ENGINES.map(({ name }) => name).filter((name) => name.startsWith('kernels'));

test.each(engines as ('kernels' | 'kernels-plain')[])(
  '%s draws the tokens of ONNX Runtime',
  async (engine) => {
    const files = await readPolicyFolder('models/arithmetic-base');
    const [onnx, kernels] = await Promise.all(
      [{}, { engine }].map((how) =>
        openVersion(nodeEngines, { name: 'arithmetic-base', version: 0, ...how }, files),
      ),
    );
    const prompts = Array.from({ length: 8 }, (_, p) => ({
      ids: Array.from({ length: 2 + 4 * p }, (_, i) => (i * i * 7 + p * 5 + 2) % 97),
      sampleIds: Array.from({ length: 8 }, (_, i) => `${p}/${i}`),
    }));
    for (const settings of [
      { maxNew: 40, temperature: 1, stop: [3] },
      { maxNew: 24, temperature: 0.7, topP: 0.9, topK: 30, stop: [3] },
      { maxNew: 24, temperature: 0, stop: [3] },
    ]) {
      const [wanted, made] = [
        await onnx!.generate(prompts, settings),
        await kernels!.generate(prompts, settings),
      ];
      expect(made.flat().map(({ ids }) => ids)).toEqual(wanted.flat().map(({ ids }) => ids));
      const errors = made
        .flat()
        .flatMap(({ logprobs }, i) => logprobs.map((x, t) => Math.abs(x - wanted.flat()[i]!.logprobs[t]!)));
      expect(Math.max(...errors)).toBeLessThan(1e-4);
    }
    // Tokens one by one, in both engines: what was sampled is what is scored, to the last bit in the kernels.
    const settings = { maxNew: 30, temperature: 1, stop: [] };
    const completions = await kernels!.generate(prompts, settings);
    const sequences = completions.flatMap((samples, p) =>
      samples.map(({ ids }) => [...prompts[p]!.ids, ...ids]),
    );
    const scores = await kernels!.score(sequences);
    completions.flat().forEach(({ ids, logprobs }, i) => {
      expect(scores[i]!.logprobs.slice(-ids.length)).toEqual(logprobs);
    });
    await onnx!.dispose();
    await kernels!.dispose();
  },
);
