/** What a start of updaters must do: name layers, and all sets of them about equally often, so that there is something to choose among. */
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { heldOutFacts, layerSets, parseLayers, UPDATE_TOKENS, updatePrompt } from './streams.ts';

/** Answers to each held-out document. */
const EACH = 4;

export async function gates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const made = await generate(
    heldOutFacts().map((document, d) => ({
      ids: tokenizer.encode(updatePrompt(document)),
      sampleIds: Array.from({ length: EACH }, (_, i) => `gate/${d}/${i}`),
    })),
    { maxNew: UPDATE_TOKENS, temperature: 1, stop: [tokenizer.id(STOP)] },
  );
  const answers = made.flat().map(({ ids }) => parseLayers(tokenizer.decode(ids)));
  const shares = layerSets.map((set) =>
    mean(answers.map((answer) => Number(answer.ok && answer.value === set))),
  );
  return [
    {
      description: 'answers that name layers',
      value: mean(answers.map(({ ok }) => Number(ok))),
      least: 0.97,
    },
    { description: 'of all, the set that is named least often', value: Math.min(...shares), least: 0.03 },
    { description: 'of all, the set that is named most often', value: Math.max(...shares), most: 0.12 },
  ];
}
