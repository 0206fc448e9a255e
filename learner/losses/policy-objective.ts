/** Computes the loss of whichever objective a recipe names, so that the training step needs one call only. */
import { wrongInput } from '../../core/errors.ts';
import type { PolicyObjectiveSpec } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import { aipo } from './aipo.ts';
import { cispo } from './cispo.ts';
import { decoupledPpo } from './decoupled-ppo.ts';
import { dppoTv } from './dppo-tv.ts';
import { gmpo } from './gmpo.ts';
import { gspo } from './gspo.ts';
import { moduleObjective } from './module-objective.ts';
import type { ObjectiveTokens } from './objective-tokens.ts';
import { ppoClip } from './ppo-clip.ts';
import { reinforce } from './reinforce.ts';
import { sapo } from './sapo.ts';
import type { ClippedLoss } from './tokens.ts';

/** The loss of these tokens under the objective; `clippedTokens` is 0 for objectives that clip nothing. */
export function policyObjective(tokens: ObjectiveTokens, spec: PolicyObjectiveSpec): ClippedLoss {
  switch (spec.kind) {
    case 'ppo-clip':
      return ppoClip(tokens, spec);
    case 'gspo':
      return gspo(tokens, spec);
    case 'gmpo':
      return gmpo(tokens, spec);
    case 'cispo':
      return cispo(tokens, spec);
    case 'aipo':
      return aipo(tokens, spec);
    case 'dppo-tv':
      return dppoTv(tokens, spec);
    case 'sapo':
      return { ...sapo(tokens, spec), clippedTokens: tf.scalar(0) };
    case 'reinforce':
      return { ...reinforce(tokens), clippedTokens: tf.scalar(0) };
    case 'module':
      return moduleObjective(tokens, spec);
    case 'decoupled-ppo':
      if (!tokens.behaviour)
        throw wrongInput('loss.behaviour', 'decoupled PPO came without the sampler’s log-probabilities.', {
          expected: 'behaviour [T] beside oldLogprobs [T]',
        });
      return decoupledPpo({ ...tokens, behaviour: tokens.behaviour }, spec);
  }
}
