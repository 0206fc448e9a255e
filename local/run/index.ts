/**
 * `rollmesh/local`: what a training loop of one's own is made of in Node.js, without a mesh: a policy read from a folder, a cache of open
 * policies that sample, a device, and the trainer that turns a training plan into the next version. examples/loop.ts puts them together.
 *
 *     import { nodeEngines, OpenPolicies, openDevice, RoundTrainer, readPolicyFolder } from 'rollmesh/local';
 */
export { textOf } from '../../core/renderer/policy-text.ts';
export { roundOf } from '../../core/schema/round.ts';
export { nodeEngines } from '../../infer/node-engines.ts';
export { OpenPolicies } from '../../infer/open-policies.ts';
export { openDevice } from '../../learner/device/device.ts';
export { type RoundToTrain, RoundTrainer, type TrainedRound } from '../../learner/train/round-trainer.ts';
export { readPolicyFolder } from '../../model/policy-folder.ts';
