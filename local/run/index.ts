/**
 * `rollmesh/local`: what a training loop of one's own is made of in Node.js, without a mesh: a policy read from a folder, a cache of open
 * policies that sample, a device, and the trainer that turns a training plan into the next version. examples/loop.ts puts them together.
 * `playInProcess` plays a recipe's whole run over a store, and tells a listener of each round and of the summary.
 *
 *     import { nodeEngines, OpenPolicies, openDevice, RoundTrainer, readPolicyFolder } from 'rollmesh/local';
 */

export { type EvaluationTasks, HELD_OUT } from '../../core/recipe/split.ts';
export { textOf } from '../../core/renderer/policy-text.ts';
export { roundOf } from '../../core/schema/round.ts';
export { ownFigures, type Summary, summary } from '../../core/schema/summary.ts';
export { nodeEngines } from '../../infer/node-engines.ts';
export { OpenPolicies } from '../../infer/open-policies.ts';
export { openDevice } from '../../learner/device/node-host.ts';
export { configOf } from '../../learner/train/frozen-sets.ts';
export { type RoundToTrain, RoundTrainer, type TrainedRound } from '../../learner/train/round-trainer.ts';
export { parameterCount } from '../../model/checkpoint.ts';
export type { ModelConfig } from '../../model/config.ts';
export { toHfConfig } from '../../model/hf-config.ts';
export { readPolicyFolder } from '../../model/policy-folder.ts';
export { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
export { SHAPES, type ShapeName } from '../../model/shapes.ts';
export { widened } from '../../model/widen.ts';
export { type OrderedRun, type RunOrder, runOf } from '../../recipes/run-order.ts';
export { readStart, startFolder } from '../find-start.ts';
export { type Machine, thisMachine } from '../machine.ts';
export { playInProcess } from './in-process.ts';
export type { RunListener } from './play.ts';
export { MemoryRunStore } from './run-store.ts';
