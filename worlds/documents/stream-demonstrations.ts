/**
 * Demonstrations of an updater, for a warm start that continues from `documents`: it names any layers of its own, all sets of them equally often, whatever the
 * document says. In the other half the roles of that start go on. Held-out facts are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { demonstrateDocument } from './demonstrations.ts';
import { drawFacts, writeFacts } from './family.ts';
import { layerSets, updatePrompt, writeLayers } from './streams.ts';

export const demonstrateUpdate = (random: Random): Demonstration =>
  random.bool()
    ? {
        role: 'updater',
        prompt: updatePrompt(writeFacts(drawFacts(random))),
        completion: writeLayers(random.pick(layerSets)),
      }
    : demonstrateDocument(random);
