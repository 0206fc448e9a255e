/** `rollmesh/workers`: the four Workers of a mesh, each made for the recipes that it is given. A `main` in wrangler.toml exports one. */
export { type GatewayEnv, gatewayWorker } from './gateway/worker.ts';
export { type JudgeEnv, judgeWorker } from './judge/worker.ts';
export { type ProposerEnv, proposerWorker } from './proposer/worker.ts';
export { type RolloutEnv, rolloutWorker } from './rollout/worker.ts';
export type { WorkerOptions } from './shared/stage-worker.ts';
